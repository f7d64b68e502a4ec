"""What every classifier does."""

from collections.abc import Awaitable
from typing import Protocol

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.record.results import Issue

NONE_FOUND = "none found"
"""The label of a screen that found nothing, which does not say that there is nothing."""
UNKNOWN = "unknown"
"""The label of a text that cannot be told, such as one that is too short."""


class Classification(Frozen):
    """What kind of text it is, how sure that is, and what was looked at."""

    label: str
    confidence: float = Field(ge=0, le=1)
    """How far the label can be trusted, 0 to 1; an estimate, calibrated only where it says so."""
    scores: FrozenMap[float] = Field(default_factory=dict[str, float])
    """What speaks for each label that was weighed, 0 to 1."""
    coverage: str = ""
    """What was looked at: words, a language, a model. What is outside of it was not judged."""
    evidence: tuple[Issue, ...] = ()
    """The places of the text that the label rests on."""


class Classifier(Protocol):
    """Puts a label on a text."""

    @property
    def name(self) -> str:
        """What it judges, such as `sentiment`."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """What it may answer; empty when that is open."""
        ...

    def classify(self, text: str) -> Classification | Awaitable[Classification]:
        """The label of a text."""
        ...
