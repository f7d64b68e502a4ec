"""Verdicts of validators and critics, and the answers of the tools that only judge a text."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from sifaka._internal.immutable import thawed
from sifaka.record.results import CriticFeedback, Issue
from sifaka_mcp.schemas.wire import Foreign, Remark, Score, Wire


class IssueOut(Wire):
    """One thing that is wrong with one place of the text."""

    id: str
    message: Remark
    quote: Foreign
    start: int | None
    end: int | None
    category: Remark
    severity: int
    fix: Foreign | None = None
    support: int = 1
    places: list[tuple[int, int]] = Field([])
    """Of one that occurs at several, `start` and `end` of each."""


def _number_issues(issues: Iterable[Issue]) -> list[object]:
    """Issues with numbers; what is wrong in the same way at several places is one."""
    same: defaultdict[object, list[Issue]] = defaultdict(list)
    for issue in issues:
        same[issue.message, issue.quote, issue.fix, issue.category, issue.severity].append(issue)
    return [
        {**dict(group[0]), "id": f"i{number}", "places": _places_of(group)}
        for number, group in enumerate(same.values(), 1)
    ]


def _places_of(issues: Sequence[Issue]) -> list[tuple[int, int]]:
    places = [(i.start, i.end) for i in issues if i.start is not None and i.end is not None]
    return places if len(places) > 1 else []


IssueList = Annotated[list[IssueOut], BeforeValidator(_number_issues)]
"""Issues, numbered within their list."""


class ValidationOut(Wire):
    """What one validator found."""

    validator: Remark
    passed: bool
    required: bool
    score: Score
    message: Remark
    issues: IssueList
    suggestions: list[Remark]
    unchecked: Annotated[SkipJsonSchema[bool], BeforeValidator(bool)] = Field(False, exclude=True)
    """True when the text was not checked; the message tells clients."""


class DifferenceOut(Wire):
    """A difference from the original, and who has answered it how."""

    id: str
    kind: str
    before: Foreign
    after: Foreign
    status: str
    by: Remark
    reason: Foreign


class CritiqueOut(Wire):
    """What one critic said, or why it said nothing."""

    critic: Remark
    status: Literal["ok", "abstained"]
    verdict: Literal["accept", "revise"] | None
    scores: dict[str, float]
    suggestions: list[Remark]
    confidence: float | None
    reason: Remark | None = None
    reflection: Remark | None = None
    details: Annotated[dict[str, Any], BeforeValidator(thawed)] = Field({})

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_accept(cls, feedback: CriticFeedback) -> CriticFeedback:
        """Rules that found nothing have accepted nothing."""
        if feedback.judges_task or feedback.verdict != "accept":
            return feedback
        return feedback.model_copy(update={"verdict": None, "reason": "its rules found nothing"})


class UsageOut(Wire):
    """What was consumed; `cost_usd` is null when a price is unknown."""

    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: Annotated[float, BeforeValidator(lambda seconds: round(seconds, 3))]


class ValidateOut(Wire):
    """Every validator's verdict on the text."""

    passed: bool
    results: list[ValidationOut]
    degraded: list[Remark] = Field([])
    next_cursor: str | None = None


class CritiqueTextOut(Wire):
    """What the critics say together and each."""

    verdict: Annotated[
        Literal["accept", "revise", "undecided"],
        BeforeValidator(lambda verdict: verdict or "undecided"),
    ]
    issues: IssueList
    critiques: list[CritiqueOut] = Field(validation_alias=AliasChoices("critiques", "feedback"))
    differences: list[DifferenceOut] = Field([])
    rubric: list[Remark] | None = None
    usage: UsageOut
    degraded: list[Remark]
    next_cursor: str | None = None
