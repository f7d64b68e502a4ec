"""What listeners are told about an entry that was stored."""

from typing import assert_never

from sifaka.entries import (
    Anchored,
    Called,
    Critiqued,
    Decided,
    Drafted,
    Entry,
    Recovered,
    Retrieved,
    Started,
    Stopped,
    Validated,
)
from sifaka.events import ChainEvent, Phase
from sifaka.results import majority
from sifaka.run import Run


def stored(entry: Entry, run: Run) -> ChainEvent:
    """The event for an entry and the run after it."""
    phase, message = _told(entry)
    return doing(run, phase, message).model_copy(update={"entry": entry, "run": run})


def doing(run: Run, phase: Phase, message: str) -> ChainEvent:
    """The event for a phase that begins."""
    return ChainEvent(
        run_id=run.run_id,
        iteration=max(0, len(run.thoughts) - 1),
        phase=phase,
        message=message,
    )


def _told(entry: Entry) -> tuple[Phase, str]:
    match entry:
        case Started() | Called():
            return "generate", entry.kind
        case Drafted(thought=thought):
            return "generate", f"{thought.author} wrote {len(thought.text)} characters"
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
        case Anchored(decision=decision):
            return "select", decision.reason
        case Recovered(error=error):
            return "recover", error
        case Stopped(stop_reason=reason):
            return "stop", reason
        case _:
            assert_never(entry)
