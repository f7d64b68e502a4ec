"""The answers of the tools that only look at a text, on the wire."""

from typing import Literal, Self

from pydantic import BaseModel

from sifaka.chain import Review
from sifaka.tasks import ValidationReport
from sifaka_mcp.schemas.verdicts import CritiqueOut, IssueOut, UsageOut, ValidationOut


class ValidateOut(BaseModel):
    """Every validator's verdict on the text."""

    passed: bool
    results: list[ValidationOut]

    @classmethod
    def of(cls, report: ValidationReport) -> Self:
        """The wire form."""
        results = [ValidationOut.of(result) for result in report.results]
        return cls(passed=report.passed, results=results)


class CritiqueTextOut(BaseModel):
    """What the critics say together and each."""

    verdict: Literal["accept", "revise", "undecided"]
    issues: list[IssueOut]
    critiques: list[CritiqueOut]
    rubric: list[str] | None = None
    usage: UsageOut
    degraded: list[str]

    @classmethod
    def of(cls, review: Review) -> Self:
        """The wire form."""
        return cls(
            verdict=review.verdict or "undecided",
            issues=IssueOut.all_of(review.issues),
            critiques=[CritiqueOut.of(feedback) for feedback in review.feedback],
            rubric=None if review.rubric is None else list(review.rubric),
            usage=UsageOut.of(review.usage),
            degraded=list(review.degraded),
        )
