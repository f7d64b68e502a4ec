"""Presets of the effort."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Effort = Literal["quick", "standard", "thorough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The settings of an effort; explicit ones win.

    With C calls of critics for a version, K rounds cost at most `C + K * width * (1 + C)` model
    calls; judges add `2 * judge_repeats` for each round, and as many for the look back at the end.
    """

    max_iterations: int
    """Versions that a model or the caller may write after the first."""
    judged: bool = False
    """True when a judge compares versions, where there is a model to ask."""
    judge_repeats: int = 1
    width: int = 1
    """Versions written at a time, where a judge compares the best of them."""


PRESETS: Mapping[Effort, Preset] = MappingProxyType(
    {
        "quick": Preset(max_iterations=1),
        "standard": Preset(max_iterations=3),
        "thorough": Preset(max_iterations=5, judged=True, judge_repeats=3, width=3),
    }
)
