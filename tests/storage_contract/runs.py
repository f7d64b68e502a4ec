"""Runs for the contracts, and their entries."""

from typing import Any

from sifaka.record.entries import Decided, Decision, Drafted, Entry, Started, Validated
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore


def made(*texts: str, **started: Any) -> Run:
    """A run with a version for each text; its first entry has these fields."""
    run = Run.start(Started(**started))
    for text in texts:
        run = run.apply(next_draft(run, text))
    return run


async def keep(log: ThoughtStore, *texts: str, prompt: str = "") -> Run:
    """Append such a run, at once."""
    entries = entries_of(made(*texts, prompt=prompt))
    run = Run.replay(entries)
    await log.append(run, entries, expected_version=0)
    return run


def next_draft(run: Run, text: str) -> Drafted:
    """The entry of one more version."""
    parent = run.latest
    if parent is None:
        return Drafted(thought=Thought(run_id=run.run_id, prompt=run.prompt, text=text))
    return Drafted(thought=parent.next_iteration().with_text(text))


def accepted(run: Run) -> Run:
    """The run after its last version was accepted, which passes."""
    for entry in _accepting(run.thoughts[-1].id):
        run = run.apply(entry)
    return run


def entries_of(run: Run) -> list[Entry]:
    """The entries of a run that was made here."""
    started = Started(run_id=run.run_id, prompt=run.prompt, tags=run.tags, at=run.created_at)
    entries: list[Entry] = [started, *(Drafted(thought=thought) for thought in run.thoughts)]
    return [*entries, *(entry for thought_id in run.decisions for entry in _accepting(thought_id))]


def _accepting(thought_id: str) -> tuple[Entry, Entry]:
    passes = {"length": ValidationResult(passed=True)}
    validated = Validated(thought_id=thought_id, results=passes)
    return validated, Decided(thought_id=thought_id, decision=_ACCEPTED)


_ACCEPTED = Decision(accepted=True, by="person")
