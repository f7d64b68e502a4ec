"""Self-RAG's reflection on the passages of evidence for one claim, and the score of each."""

from math import inf
from typing import Literal

from pydantic import Field, model_validator

from sifaka.models.structured import Form, Number, Whole

Support = Literal["full", "partial", "none"]

_RELEVANCE, _SUPPORT, _USEFULNESS = 1.0, 1.0, 0.5
"""The weights of the three parts of the score."""


class Reflection(Form):
    """ISREL and ISSUP: does the passage speak about the claim, and how much of it does it say?"""

    passage: Whole = Field(description="the passage's number")
    quote: str = Field(default="", description="its words that decide, copied exactly")
    relevant: Number = Field(ge=0, le=1, description="probability that it is about the claim")
    full: Number = Field(ge=0, description="probability that it says everything")
    partial: Number = Field(ge=0, description="probability that it says some of it")
    none: Number = Field(ge=0, description="probability that it says nothing or the contrary")

    @model_validator(mode="after")
    def _says_something(self) -> "Reflection":
        if not 0 < self.full + self.partial + self.none < inf:
            raise ValueError("`full`, `partial` and `none` must add up to 1")
        return self

    @property
    def is_relevant(self) -> bool:
        """True when the passage is more likely relevant than not."""
        return self.relevant >= 0.5

    @property
    def supports(self) -> Support:
        """The likeliest degree of support; of equal ones the lower."""
        degrees: tuple[Support, ...] = ("none", "partial", "full")
        return max(degrees, key=lambda degree: getattr(self, degree))


class Reflections(Form):
    """Your judgement of the claim in the light of each passage."""

    passages: list[Reflection] = Field(min_length=1, description="one for each passage")
    usefulness: Number = Field(ge=1, le=5, description="ISUSE: 1 not at all ... 5 very")

    def score(self, passage: Reflection) -> float:
        """Self-RAG's weighted score, from -0.5 to 2.5 (arXiv 2310.11511, section 3.3).

        The grades of usefulness have the values -1, -0.5, 0, 0.5 and 1; what is between them too.
        """
        degrees = passage.full + passage.partial + passage.none
        support = (passage.full + 0.5 * passage.partial) / degrees
        use = (self.usefulness - 3) / 2
        return _RELEVANCE * passage.relevant + _SUPPORT * support + _USEFULNESS * use
