"""Self-RAG's reflection on one passage of evidence, and the score it amounts to."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator

from sifaka.models.coercion import Form, Number

Support = Literal["full", "partial", "none"]

_RELEVANCE, _SUPPORT, _USEFULNESS = 1.0, 1.0, 0.5
"""The weights of the three parts of the score."""
_USE = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""The values of usefulness 1 to 5."""


class Relevance(Form):
    """ISREL: does the passage speak about what is claimed?"""

    relevant: Number = Field(ge=0, description="probability")
    irrelevant: Number = Field(ge=0, description="probability")


class Supporting(Form):
    """ISSUP: how much of the claim does the passage say?"""

    full: Number = Field(ge=0, description="probability that it says everything")
    partial: Number = Field(ge=0, description="probability that it says some of it")
    none: Number = Field(ge=0, description="probability that it says nothing or the contrary")


class Usefulness(Form):
    """ISUSE: how useful is the claim for the task, 1 (not at all) to 5 (very)?"""

    one: Number = Field(ge=0, description="probability")
    two: Number = Field(ge=0, description="probability")
    three: Number = Field(ge=0, description="probability")
    four: Number = Field(ge=0, description="probability")
    five: Number = Field(ge=0, description="probability")


class Reflection(Form):
    """Your judgement of the claim in the light of the passage, as probabilities."""

    relevance: Relevance
    support: Supporting
    usefulness: Usefulness

    @model_validator(mode="after")
    def _says_something(self) -> "Reflection":
        for part in (self.relevance, self.support, self.usefulness):
            if not any(part.model_dump().values()):
                raise ValueError("the probabilities of each group must not all be zero")
        return self

    @property
    def is_relevant(self) -> bool:
        """True when the passage is more likely relevant than not."""
        return self.relevance.relevant >= self.relevance.irrelevant

    @property
    def supports(self) -> Support:
        """The likeliest degree of support; of equal ones the lower."""
        degrees: tuple[Support, ...] = ("none", "partial", "full")
        return max(degrees, key=lambda degree: getattr(self.support, degree))

    @property
    def score(self) -> float:
        """The score of the claim with this passage; see `passage_score`."""
        relevance, support, use = self.relevance, self.support, self.usefulness
        return passage_score(
            (relevance.relevant, relevance.irrelevant),
            (support.full, support.partial, support.none),
            (use.one, use.two, use.three, use.four, use.five),
        )


def passage_score(
    relevance: tuple[float, float],
    support: tuple[float, float, float],
    usefulness: tuple[float, float, float, float, float],
) -> float:
    """Self-RAG's weighted score of a passage, from -0.5 to 2.5 (arXiv 2310.11511, section 3.3).

    Args:
        relevance: Probabilities of relevant and irrelevant.
        support: Probabilities of full, partial and no support.
        usefulness: Probabilities of a usefulness of 1 to 5. None of the three need add up to 1.
    """
    relevant, _ = _normalised(relevance)
    full, partial, _ = _normalised(support)
    use = sum(weight * p for weight, p in zip(_USE, _normalised(usefulness), strict=True))
    return _RELEVANCE * relevant + _SUPPORT * (full + 0.5 * partial) + _USEFULNESS * use


def _normalised(probabilities: Sequence[float]) -> list[float]:
    most = max(probabilities)
    scaled = [p / most for p in probabilities]  # huge numbers must not add up to infinity
    return [p / sum(scaled) for p in scaled]
