"""The protocol of classifiers."""

from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.record.results import Issue

NONE_FOUND = "none found"
"""The label of a screen that found nothing, which does not say that there is nothing."""
UNKNOWN = "unknown"
"""The label of a text that cannot be judged, such as one that is too short."""


class Classification(Frozen):
    """The label of a text, its confidence, and the coverage."""

    label: str
    confidence: float = Field(ge=0, le=1)
    """Trust in the label, 0 to 1; an estimate, calibrated only where the classifier says so."""
    scores: FrozenMap[float] = Field(default_factory=dict[str, float])
    """The score of each label that was weighed, 0 to 1."""
    coverage: str = ""
    """The material that was examined: words, a language, a model."""
    evidence: tuple[Issue, ...] = ()
    """The places of the text that the label rests on."""


@runtime_checkable
class Classifier(Protocol):
    """Puts a label on a text."""

    @property
    def name(self) -> str:
        """The judged quality, such as `sentiment`."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The possible labels; empty when they are open."""
        ...

    def classify(self, text: str) -> Classification | Awaitable[Classification]:
        """The label of a text."""
        ...
