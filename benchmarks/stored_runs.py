"""Runs as a store is given them: what is appended, step by step."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from benchmarks.chains import endless_chain
from benchmarks.samples import version_text
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought, new_run_id
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore


@dataclass(frozen=True, slots=True)
class Append:
    """Entries, and the run as it is after them."""

    run: Run
    entries: Sequence[Entry]

    @property
    def expected_version(self) -> int:
        """The number of entries that the store holds before."""
        return self.run.version - len(self.entries)


def new_run(texts: Sequence[str], *, prompt: str = "") -> tuple[Append, ...]:
    """The beginning of a run, then a version of it with each append."""
    started = Started(prompt=prompt)
    appends = [Append(Run.start(started), (started,))]
    for number, text in enumerate(texts):
        run = appends[-1].run
        entry = Drafted(thought=Thought(run_id=run.run_id, iteration=number, text=text))
        appends.append(Append(run.apply(entry), (entry,)))
    return tuple(appends)


def at_once(appends: Sequence[Append]) -> Append:
    """The same in one append."""
    return Append(appends[-1].run, [entry for append in appends for entry in append.entries])


async def complete_run(iterations: int) -> Append:
    """All of a run that a chain made, with results, feedback and decisions; texts of 8 KB."""
    store = MemoryStorage()
    made = (await endless_chain(store, iterations).run(text=version_text(0))).run
    return Append(made, await entries_of(store, made))


async def entries_of(store: ThoughtStore, run: Run) -> Sequence[Entry]:
    """The entries of a run of the store that has ended."""
    entries: list[Entry] = []
    async with aclosing(store.follow(run.run_id)) as steps:
        async for entry, _ in steps:
            entries.append(entry)
            if len(entries) == run.version:
                break
    return entries


def copied(entries: Sequence[Entry]) -> Append:
    """The same run once more, under an id of its own."""
    run_id, first = new_run_id(), entries[0]
    assert isinstance(first, Started)
    first = first.model_copy(update={"run_id": run_id})
    run, copies = Run.start(first), list[Entry]([first])
    for entry in entries[1:]:
        copy = entry
        if isinstance(entry, Drafted):
            thought = entry.thought.model_copy(update={"run_id": run_id})
            copy = entry.model_copy(update={"thought": thought})
        copies.append(copy)
        run = run.apply(copy)
    return Append(run, copies)
