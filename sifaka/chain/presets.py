"""Presets of the effort."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from sifaka.record.entries import Policy

Effort = Literal["quick", "standard", "thorough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The settings of an effort; explicit ones win.

    With C calls of critics for a version, K rounds cost at most `C + K * width * (1 + C)` model
    calls. The look back at the end adds 1 or 2.
    """

    max_iterations: int
    """Versions of the caller after the first that may be taken."""
    rounds: int
    """Rounds in which a provider's model may write after the first version."""
    policy: Policy = "best"
    """The policy where there is a model to ask; without one it is `best`."""
    width: int = 1
    """Versions written at a time, with that policy."""
    look_back: int = 0
    """See `ChainConfig.look_back`."""
    own_review: bool = False
    """See `ChainConfig.own_review`."""


PRESETS: Mapping[Effort, Preset] = MappingProxyType(
    {
        "quick": Preset(max_iterations=1, rounds=1),
        "standard": Preset(max_iterations=3, rounds=2, look_back=1, own_review=True),
        "thorough": Preset(
            max_iterations=5,
            rounds=3,
            policy="best_of_n",
            width=3,
            look_back=2,
            own_review=True,
        ),
    }
)
