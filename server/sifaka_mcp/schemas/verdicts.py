"""Verdicts of validators and critics, and the answers of the tools that only judge a text."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr

from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.usage import Usage
from sifaka.tasks import ValidationReport

if TYPE_CHECKING:
    from sifaka.chain import Review


class IssueOut(BaseModel):
    """One thing that is wrong with one place of the text."""

    id: str
    message: str
    quote: str
    start: int | None
    end: int | None
    category: str
    severity: int
    fix: str | None = None
    support: int = 1

    @classmethod
    def of(cls, issue: Issue, number: int) -> "IssueOut":
        """The wire form, numbered within its list."""
        return cls(
            id=f"i{number}",
            message=issue.message,
            quote=issue.quote,
            start=issue.start,
            end=issue.end,
            category=issue.category,
            severity=issue.severity,
            fix=issue.fix,
            support=issue.support,
        )

    @classmethod
    def all_of(cls, issues: Iterable[Issue]) -> "list[IssueOut]":
        """The wire forms of a list of issues."""
        return [cls.of(issue, number) for number, issue in enumerate(issues, 1)]


class ValidationOut(BaseModel):
    """What one validator found."""

    validator: str
    passed: bool
    required: bool
    score: float
    message: str
    issues: list[IssueOut]
    suggestions: list[str]
    _unchecked: bool = PrivateAttr(default=False)

    @property
    def unchecked(self) -> bool:
        """True when the text was not checked; the message tells clients."""
        return self._unchecked

    @classmethod
    def of(cls, result: ValidationResult) -> "ValidationOut":
        """The wire form."""
        out = cls(
            validator=result.validator,
            passed=result.passed,
            required=result.required,
            score=round(result.score, 4),
            message=result.message,
            issues=IssueOut.all_of(result.issues),
            suggestions=list(result.suggestions),
        )
        out._unchecked = result.unchecked is not None
        return out


class DifferenceOut(BaseModel):
    """A difference from the original, and who has answered it how."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    kind: str
    before: str
    after: str
    status: str
    by: str
    reason: str


class CritiqueOut(BaseModel):
    """What one critic said, or why it said nothing."""

    critic: str
    status: Literal["ok", "abstained"]
    verdict: Literal["accept", "revise"] | None
    scores: dict[str, float]
    suggestions: list[str]
    confidence: float | None
    reason: str | None = None
    reflection: str | None = None
    details: dict[str, Any] = {}

    @classmethod
    def of(cls, feedback: CriticFeedback) -> "CritiqueOut":
        """The wire form. Rules that found nothing have accepted nothing."""
        is_silent = not feedback.judges_task and feedback.verdict == "accept"
        return cls(
            critic=feedback.critic,
            status=feedback.status,
            verdict=None if is_silent else feedback.verdict,
            scores=dict(feedback.scores),
            suggestions=list(feedback.suggestions),
            confidence=feedback.confidence,
            reason="its rules found nothing" if is_silent else feedback.reason,
            reflection=feedback.reflection,
            details=feedback.model_dump(mode="json", include={"details"})["details"],
        )


class UsageOut(BaseModel):
    """What was consumed; `cost_usd` is null when a price is unknown."""

    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float

    @classmethod
    def of(cls, usage: Usage) -> "UsageOut":
        """The wire form."""
        return cls(
            model_calls=usage.model_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            seconds=round(usage.seconds, 3),
        )


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
    def of(cls, review: "Review") -> Self:
        """The wire form."""
        return cls(
            verdict=review.verdict or "undecided",
            issues=IssueOut.all_of(review.issues),
            critiques=[CritiqueOut.of(feedback) for feedback in review.feedback],
            rubric=None if review.rubric is None else list(review.rubric),
            usage=UsageOut.of(review.usage),
            degraded=list(review.degraded),
        )
