"""The events of a run: one for each entry, and one for each phase that begins."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import assert_never

from sifaka.record.entries import (
    INTERRUPTED,
    Anchored,
    Called,
    Critiqued,
    Decided,
    Declined,
    Drafted,
    Entry,
    Recovered,
    Researched,
    Retrieved,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.outcome import findings
from sifaka.record.research_question import ResearchStep
from sifaka.record.results import majority
from sifaka.record.run import ChainEvent, Phase, Run
from sifaka.storage.protocol import ThoughtStore


def stored(entry: Entry, run: Run) -> ChainEvent:
    """The event for an entry and the run after it."""
    phase, message = _told(entry)
    is_research = isinstance(entry, Researched)
    return ChainEvent(
        run_id=run.run_id,
        iteration=max(0, len(run.thoughts) - 1),
        phase=phase,
        message=message,
        entry=entry,
        run=run,
        research=entry.step if is_research else run.config.inquiry and research_ended(run),
        section=entry.section if is_research else None,
    )


def research_ended(run: Run) -> ResearchStep | None:
    """The end of a run of research; None while it has not ended, and for every other run.

    One whose process was told to end has not: another process goes on with it.
    """
    if run.config.inquiry is None or not run.finished or run.error_code == INTERRUPTED:
        return None
    if run.status == "failed":
        return "failed"
    if run.status == "cancelled":
        return "cancelled"
    # Without a first version the budget has ended it before there was anything to write from.
    is_partial = run.original is None or bool(findings(run.original).get("partial"))
    return "partial" if is_partial else "complete"


def ended_elsewhere(run: Run) -> ChainEvent | None:
    """The event that ends research stopped from outside; None for any other run.

    It carries no entry: that was stored elsewhere.
    """
    step = research_ended(run)
    if step is None:
        return None
    event = doing(run, "stop", f"{run.status}, by somebody else")
    return event.model_copy(update={"run": run, "research": step})


def doing(run: Run, phase: Phase, message: str) -> ChainEvent:
    """The event for a phase that begins."""
    return ChainEvent(
        run_id=run.run_id,
        iteration=max(0, len(run.thoughts) - 1),
        phase=phase,
        message=message,
    )


async def follow_run(
    store: ThoughtStore, run_id: str, *, after: int = 0
) -> AsyncGenerator[ChainEvent]:
    """An event for each entry of a run, those to come included; see `ThoughtStore.follow`."""
    async with aclosing(store.follow(run_id, after=after)) as steps:
        async for entry, run in steps:
            yield stored(entry, run)


def _told(entry: Entry) -> tuple[Phase, str]:
    match entry:
        case Started() | Called():
            return "generate", entry.kind
        case Drafted(thought=thought):
            return "generate", f"{thought.author} wrote {len(thought.text)} characters"
        case Researched(message=message):
            return "research", message
        case Retrieved(documents=documents):
            return "retrieve", f"{len(documents)} documents"
        case Validated(results=results):
            passed = sum(result.passed for result in results.values())
            return "validate", f"{passed} of {len(results)} validators pass"
        case Critiqued(feedback=feedback):
            return "critique", majority(feedback) or "no verdict"
        case Decided(decision=decision):
            verdict = "accepted" if decision.accepted else "turned down"
            return "select", f"{verdict}: {decision.reason}"
        case Declined(reason=reason, issue=issue):
            what = f"declined: {issue.message}" if issue else "the rest is declined"
            return "select", f"{what}: {reason}" if reason else what
        case Anchored(decision=decision):
            return "select", decision.reason
        case Recovered(error=error):
            return "recover", error
        case Stopped(stop_reason=reason):
            return "stop", reason
        case _:
            assert_never(entry)
