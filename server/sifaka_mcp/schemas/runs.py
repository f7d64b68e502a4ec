"""A run's result, on the wire."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from sifaka.chain import RunResult, Submission
from sifaka.chain.brief import Brief
from sifaka.chain.sheet import ledger_of
from sifaka.record.entries import RunStatus, StopReason
from sifaka_mcp.schemas.texts import TextOut
from sifaka_mcp.schemas.verdicts import DifferenceOut, IssueOut, UsageOut, ValidationOut


class FailureOut(BaseModel):
    """A validator the text does not pass."""

    validator: str
    message: str
    suggestions: list[str]


class BriefOut(BaseModel):
    """All you need to write the next version of `text`."""

    parent_id: str
    instructions: str
    failures: list[FailureOut]
    rubric: list[str]
    issues: list[IssueOut]
    lessons: list[str] = []
    sheet: list[str] = []

    @classmethod
    def of(cls, brief: Brief) -> "BriefOut":
        """The wire form."""
        return cls(
            parent_id=brief.parent_id,
            instructions=brief.instructions,
            failures=[
                FailureOut(validator=f.validator, message=f.message, suggestions=[*f.suggestions])
                for f in brief.failures
            ],
            rubric=list(brief.rubric),
            issues=IssueOut.all_of(brief.issues),
            lessons=list(brief.lessons),
            sheet=list(brief.sheet),
        )


class CheckOut(BaseModel):
    """Something that was checked, or was not, for a reason."""

    what: str
    done: bool
    reason: str | None = None


class TurnedDownOut(BaseModel):
    """A version that was written and not kept."""

    version: int
    author: str
    reason: str


class AskedOut(BaseModel):
    """A limit in the words of the task, as it was measured."""

    model_config = ConfigDict(from_attributes=True)

    what: str
    limit: str
    measured: str
    met: bool


class RunAnswer(TextOut):
    """A run: its best text so far and what is known about exactly this text.

    After a version that was not taken the verdicts, issues and differences are those of it.
    """

    run_id: str
    thought_id: str
    status: RunStatus
    changed: bool
    passed: bool
    stop_reason: StopReason | None
    judged_by: str
    iterations: int
    model: str
    differences: list[DifferenceOut]
    asked: list[AskedOut]
    ledger: str
    validation_results: list[ValidationOut]
    issues: list[IssueOut]
    left: list[IssueOut]
    checked: list[CheckOut]
    turned_down: list[TurnedDownOut]
    usage: UsageOut
    brief: BriefOut | None = None
    degraded: list[str]

    @classmethod
    def _fields(cls, result: RunResult, text: TextOut) -> dict[str, Any]:
        return {
            **{name: getattr(text, name) for name in TextOut.model_fields},
            "run_id": result.run_id,
            "thought_id": result.thought.id,
            "status": result.status,
            "changed": result.changed,
            "passed": result.passed,
            "stop_reason": result.stop_reason,
            "judged_by": result.judged_by,
            "iterations": result.run.iterations,
            "model": result.run.config.model,
            "differences": [
                DifferenceOut.model_validate(each) for each in result.findings.differences
            ],
            "asked": [AskedOut.model_validate(each) for each in result.findings.asked],
            "ledger": ""
            if result.thought.author == "input"
            else ledger_of(result.findings, with_sheet=_has_read_sheet(result)),
            "validation_results": [ValidationOut.of(r) for r in result.validation_results],
            "issues": IssueOut.all_of(result.issues),
            "left": IssueOut.all_of(result.left),
            "checked": [CheckOut(**check.model_dump()) for check in result.checked],
            "turned_down": [
                TurnedDownOut(
                    version=each.iteration,
                    author=each.author,
                    reason=result.run.decisions[each.id].reason,
                )
                for each in result.turned_down
            ],
            "usage": UsageOut.of(result.usage),
            "brief": BriefOut.of(result.brief) if result.brief else None,
            "degraded": list(result.degraded),
        }


def _has_read_sheet(result: RunResult) -> bool:
    """True when the caller reads, or has read, by the sheet what the ledger would say again."""
    ended_by_it = result.stop_reason == "accepted" and result.run.config.own_review
    return ended_by_it or bool(result.brief and result.brief.sheet)


class ImproveOut(RunAnswer):
    """A run after some work on it."""

    accepted: int
    """Differences of the best text that the caller or a person has accepted."""

    @classmethod
    def of_run(cls, result: RunResult, text: TextOut) -> "ImproveOut":
        """The wire form."""
        return cls(**cls._fields(result, text), accepted=len(result.findings.accepted))


class SubmitOut(RunAnswer):
    """A run after a revision, and what became of the revision."""

    accepted: bool
    reason: str

    @classmethod
    def of_submission(cls, submission: Submission, text: TextOut) -> "SubmitOut":
        """The wire form."""
        fields = cls._fields(submission, text)
        return cls(**fields, accepted=submission.accepted, reason=submission.reason)
