"""Past runs, on the wire."""

from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, Field

from sifaka.record.entries import RunStatus, StopReason
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.tasks import History
from sifaka_mcp.schemas.runs import HunkOut, changes
from sifaka_mcp.schemas.verdicts import CritiqueOut, DifferenceOut, UsageOut, ValidationOut
from sifaka_mcp.schemas.wire import Foreign, Moment, Relevance, Remark, Wire, taken


class RunState(Wire):
    """How far a run is."""

    run_id: str
    status: RunStatus
    passed: bool
    stop_reason: StopReason | None


class RunOut(RunState):
    """A run in a few words."""

    prompt: Foreign
    champion_id: str | None
    model: Remark = taken("model", "config", "model")
    usage: UsageOut
    created_at: Moment
    updated_at: Moment
    branch_of: str | None = None
    recoveries: Annotated[
        list[Remark],
        BeforeValidator(lambda recoveries: [getattr(each, "error", each) for each in recoveries]),
    ] = Field([])
    compared_with_original: Remark | None = taken(
        "compared_with_original", "ending", "decision", "reason", default=None
    )


class ThoughtOut(BaseModel):
    """One version of a run and what became of it."""

    thought_id: str
    parent_id: str | None
    iteration: int
    author: Remark
    accepted: bool | None
    reason: Remark | None
    declined: Foreign | None
    """The reason for which it stays as it is, with what was found in it."""
    passed: bool
    validation_results: list[ValidationOut]
    differences: list[DifferenceOut]
    critic_feedback: list[CritiqueOut]
    diff: list[HunkOut]
    usage: UsageOut
    created_at: Moment
    text: Foreign | None = None

    @classmethod
    def of(cls, run: Run, thought: Thought, *, include_text: bool) -> "ThoughtOut":
        """The wire form, with the diff against the version's parent."""
        decision = run.decisions.get(thought.id)
        parent = run.thought(thought.parent_id) if thought.parent_id else None
        return cls.model_validate(
            {
                **dict(thought),
                "thought_id": thought.id,
                "accepted": decision.accepted if decision else None,
                "reason": decision.reason if decision else None,
                "declined": run.declined.get(thought.id),
                "passed": thought.passed and decision is not None,
                "validation_results": list(thought.validation_results.values()),
                "differences": thought.findings.differences,
                "diff": changes(parent, thought),
                "text": thought.text if include_text else None,
            }
        )


class RunLine(RunState):
    """One run in a list."""

    iterations: int
    excerpt: Foreign
    created_at: Moment
    updated_at: Moment


class HitOut(Wire):
    """One past version that matches."""

    run_id: str
    thought_id: str
    score: Relevance
    snippet: Foreign
    created_at: Moment


class HistoryOut(BaseModel):
    """With a run id `run` and `thoughts`, with a query `hits` and `search`, else `runs`."""

    run: RunOut | None = None
    thoughts: list[ThoughtOut] | None = None
    runs: list[RunLine] | None = None
    hits: list[HitOut] | None = None
    search: str | None = None
    degraded: list[Remark] = []
    next_cursor: str | None = None

    @classmethod
    def of(cls, history: History, *, include_text: bool) -> Self:
        """The wire form; versions come with their texts when `include_text` is set."""
        run, thoughts = history.run, history.thoughts
        return cls.model_validate(
            {
                "run": run,
                "thoughts": None
                if run is None or thoughts is None
                else [ThoughtOut.of(run, each, include_text=include_text) for each in thoughts],
                "runs": history.runs,
                "hits": history.hits,
                "search": history.search,
                "degraded": history.degraded,
                "next_cursor": history.next_cursor,
            }
        )
