"""How hard to try."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from sifaka.errors import ConfigurationError

Effort = Literal["quick", "standard", "thorough"]

ITERATIONS: Mapping[Effort, int] = MappingProxyType({"quick": 1, "standard": 3, "thorough": 5})
"""Versions a model or the caller may write at each effort. With one critic that asks a model, K
iterations cost at most 2K + 1 model calls: each version is written once and judged once."""


def iterations(effort: str) -> int:
    """The most versions written at an effort.

    Raises:
        ConfigurationError: There is no such effort.
    """
    for name, count in ITERATIONS.items():
        if name == effort:
            return count
    raise ConfigurationError(f"unknown effort {effort!r}", f"choose of {', '.join(ITERATIONS)}")
