"""Runs in stores: begun, drafted, ended, looked for."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import apsw

from sifaka.errors import VersionConflict
from sifaka.record.entries import Drafted, Entry, Started, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import SearchIndex, ThoughtStore
from sifaka.storage.sqlite.connection import SqlConnection


async def keep(store: ThoughtStore, *texts: str, **started: Any) -> Run:
    """Store a run with a version for each text, in one append; its first entry has these fields."""
    entries: list[Entry] = [Started(**started)]
    run = Run.replay(entries)
    for text in texts:
        entries.append(drafted(run, text))
        run = run.apply(entries[-1])
    await store.append(run, entries, expected_version=0)
    return run


NOW = datetime(2026, 6, 1, tzinfo=UTC)
"""The moment that the age of runs counts from."""


async def aged(
    store: ThoughtStore,
    run_id: str,
    *,
    days: float,
    text: str = "x",
    finished: bool = True,
    now: datetime = NOW,
) -> Run:
    """Store a run of some age."""
    at = now - timedelta(days=days)
    entries: list[Entry] = [
        Started(run_id=run_id, at=at),
        Drafted(thought=Thought(run_id=run_id, text=text), at=at),
    ]
    if finished:
        entries.append(Stopped(status="done", stop_reason="passed", at=at))
    run = Run.replay(entries)
    await store.append(run, entries, expected_version=0)
    return run


def drafted(run: Run, text: str) -> Drafted:
    """The entry of one more version."""
    iteration = len(run.thoughts)
    thought = Thought(run_id=run.run_id, iteration=iteration, prompt=run.prompt, text=text)
    return Drafted(thought=thought)


async def draft(store: ThoughtStore, run: Run, *texts: str, fence: int | None = None) -> Run:
    """Append a version for each text, all at once."""
    entries: list[Entry] = []
    after = run
    for text in texts:
        entries.append(drafted(after, text))
        after = after.apply(entries[-1])
    await store.append(after, entries, expected_version=run.version, fence=fence)
    return after


async def append(store: ThoughtStore, run: Run, entry: Entry, fence: int | None = None) -> Run:
    """Append an entry."""
    after = run.apply(entry)
    await store.append(after, [entry], expected_version=run.version, fence=fence)
    return after


async def stop(store: ThoughtStore, run: Run, fence: int | None = None) -> Run:
    """End a run that is done."""
    return await append(store, run, Stopped(status="done", stop_reason="passed"), fence)


async def cancel(store: ThoughtStore, run: Run) -> Run:
    """End a run that is not."""
    return await append(store, run, Stopped(status="cancelled", stop_reason="cancelled"))


async def catch_up(store: ThoughtStore | SearchIndex) -> None:
    """Have a store do all that it does later."""
    while await store.catch_up():
        pass


async def listed(store: ThoughtStore, limit: int = 50) -> list[str]:
    """The runs of a store, the newest first."""
    return [line.run_id for line in (await store.recent(limit=limit)).runs]


async def found(store: ThoughtStore | SearchIndex, query: str, limit: int = 50) -> list[str]:
    """The runs that a search finds, the best first."""
    return [hit.run_id for hit in (await store.search(query, limit=limit)).hits]


class Seen:
    """The entries that a follower has seen so far, each with the run after it."""

    def __init__(self) -> None:
        self.steps: list[tuple[Entry, Run]] = []
        self._more = anyio.Event()

    async def follow(self, steps: AsyncGenerator[tuple[Entry, Run]]) -> None:
        async with aclosing(steps):
            async for step in steps:
                self.steps.append(step)
                self._more.set()
                self._more = anyio.Event()

    async def until(self, version: int) -> None:
        """Wait for the entry with this number."""
        while version not in self.versions:
            await self._more.wait()

    @property
    def versions(self) -> list[int]:
        return [run.version for _, run in self.steps]


async def race(stores: Sequence[ThoughtStore], run: Run, *, writers: int, each: int) -> None:
    """Let writers append to one run at once, over the stores in turn: nothing is lost or doubled.

    The first store is read in the end.
    """
    conflicts: list[VersionConflict] = []

    async def write(writer: int) -> None:
        store = stores[writer % len(stores)]
        for number in range(each):
            while True:
                known = await store.load(run.run_id)
                # Between reading and writing every writer gets a turn.
                await anyio.lowlevel.checkpoint()
                try:
                    await draft(store, known, f"{writer}:{number}")
                except VersionConflict as conflict:
                    conflicts.append(conflict)
                else:
                    break

    async with anyio.create_task_group() as group:
        for writer in range(writers):
            group.start_soon(write, writer)
    written = texts(await stores[0].load(run.run_id))
    assert len(written) == writers * each
    for writer in range(writers):
        mine = [text for text in written if text.startswith(f"{writer}:")]
        assert mine == [f"{writer}:{number}" for number in range(each)]
    assert conflicts, "the writers never met"


def texts(run: Run) -> list[str]:
    """The texts of all versions."""
    return [thought.text for thought in run.thoughts]


def names(folder: Path) -> list[str]:
    """The files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def sql(path: Path, statements: str, bindings: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """What a SQLite file answers to any other program."""
    connection = apsw.Connection(str(path))
    try:
        return cast("SqlConnection", connection).execute(statements, bindings).fetchall()
    finally:
        connection.close()
