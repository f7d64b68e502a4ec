"""A run's result, on the wire."""

from typing import Any

from pydantic import BaseModel, Field

from sifaka.chain import RunResult
from sifaka.chain.brief import ledger_of
from sifaka.record.entries import RunStatus, StopReason
from sifaka.text.limits import Asked
from sifaka_mcp.schemas.texts import TextOut
from sifaka_mcp.schemas.untrusted import Remark
from sifaka_mcp.schemas.verdicts import DifferenceOut, IssueList, UsageOut, ValidationOut
from sifaka_mcp.schemas.wire import Wire


class FailureOut(Wire):
    """A validator the text does not pass."""

    validator: Remark
    message: Remark
    suggestions: list[Remark]


class BriefOut(Wire):
    """All you need to write the next version of `text`."""

    parent_id: str
    instructions: Remark
    failures: list[FailureOut]
    rubric: list[Remark]
    issues: IssueList
    lessons: list[Remark] = Field([])
    sheet: list[Remark] = Field([])


class CheckOut(Wire):
    """Something that was checked, or was not, for a reason."""

    what: Remark
    done: bool
    reason: Remark | None = None


class TurnedDownOut(BaseModel):
    """A version that was written and not kept."""

    version: int
    author: Remark
    reason: Remark


class AskedOut(Asked, Wire):
    """A limit in the words of the task, as it was measured."""


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
    judged_by: Remark
    iterations: int
    model: Remark
    differences: list[DifferenceOut]
    asked: list[AskedOut]
    ledger: Remark
    validation_results: list[ValidationOut]
    issues: IssueList
    left: IssueList
    checked: list[CheckOut]
    turned_down: list[TurnedDownOut]
    usage: UsageOut
    brief: BriefOut | None = None
    degraded: list[Remark]


class ImproveOut(RunAnswer):
    """A run after some work on it."""

    accepted: int
    """Differences of the best text that the caller or a person has accepted."""


class SubmitOut(RunAnswer):
    """A run after a revision, and what became of the revision."""

    accepted: bool
    reason: Remark


def fields_of(result: RunResult, text: TextOut) -> dict[str, Any]:
    """The fields of every answer about a run."""
    run, thought = result.run, result.thought
    ledger = ""
    if thought.author != "input":
        ledger = ledger_of(result.findings, with_sheet=_has_read_sheet(result))
    return {
        **{name: getattr(text, name) for name in TextOut.model_fields},
        "run_id": run.run_id,
        "thought_id": thought.id,
        "status": run.status,
        "changed": result.changed,
        "passed": run.passed,
        "stop_reason": run.stop_reason,
        "judged_by": run.judged_by,
        "iterations": run.iterations,
        "model": run.config.model,
        "differences": result.findings.differences,
        "asked": result.findings.asked,
        "ledger": ledger,
        "validation_results": result.validation_results,
        "issues": result.issues,
        "left": result.left,
        "checked": result.checked,
        "turned_down": [
            {
                "version": each.iteration,
                "author": each.author,
                "reason": run.decisions[each.id].reason,
            }
            for each in result.turned_down
        ],
        "usage": run.usage,
        "brief": result.brief,
        "degraded": result.degraded,
    }


def _has_read_sheet(result: RunResult) -> bool:
    """True when the caller reads, or has read, by the sheet what the ledger would say again."""
    ended_by_it = result.stop_reason == "accepted" and result.run.config.own_review
    return ended_by_it or bool(result.brief and result.brief.sheet)
