"""Bringing a store of release 0.1 over: runs that were in a search engine go to the log."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol, runtime_checkable

from sifaka._internal.immutable import Frozen
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.log import RunLog, every_run, load_if_there
from sifaka.storage.protocol import SearchIndex, ThoughtStore


@runtime_checkable
class FormerLog(Protocol):
    """An index of an engine that was a system of record in release 0.1."""

    def former_runs(self) -> AsyncGenerator[Sequence[Entry]]:
        """The entries of each run of the tenant that release 0.1 kept there; nothing is changed.

        Raises:
            StorageError: The engine failed, or a run cannot be read.
        """
        ...


class Migration(Frozen):
    """The result of a migration."""

    copied: int = 0
    """Runs that were copied to the log."""
    indexed: int = 0
    """Runs that the index lacked."""
    left: tuple[str, ...] = ()
    """Ids of runs whose log holds something else under their id; they stay where they are."""


async def migrate(store: ThoughtStore) -> Migration:
    """Copy the tenant's runs of release 0.1 to the log, and index every run that is not indexed.

    It may be repeated, and goes on with what was left. Nothing is deleted.

    Raises:
        StorageError: A part of the store failed, or a run cannot be read.
    """
    if not isinstance(store, CachedStorage):
        return Migration()
    parts = [part.scoped(store.tenant) for part in store.tiers]
    copied = 0
    left: list[str] = []
    for part in parts:
        if isinstance(part, FormerLog):
            async with aclosing(part.former_runs()) as runs:
                async for entries in runs:
                    run = Run.replay(entries)
                    held = await load_if_there(store, run.run_id)
                    if held is None:
                        await store.append(run, entries, expected_version=0)
                        copied += 1
                    elif not await _begins(store, held, entries):
                        left.append(run.run_id)
    while await store.catch_up():
        pass
    indexes = [part for part in parts if isinstance(part, SearchIndex)]
    indexed = 0
    if indexes:
        async with aclosing(every_run(store)) as lines:
            async for line in lines:
                run = await store.load(line.run_id)
                lacking = [i for i in indexes if await i.thoughts(run.run_id) != run.thoughts]
                for index in lacking:
                    await index.put(run)
                indexed += bool(lacking)
    return Migration(copied=copied, indexed=indexed, left=tuple(left))


async def _begins(log: RunLog, held: Run, entries: Sequence[Entry]) -> bool:
    """True when the log holds these entries already, perhaps with more after them."""
    found: list[Entry] = []
    async with aclosing(log.follow(held.run_id)) as steps:
        async for entry, run in steps:
            found.append(entry)
            if run.version in {held.version, len(entries)}:
                break
    return found == list(entries)
