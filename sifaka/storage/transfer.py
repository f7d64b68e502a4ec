"""Copying a run from one store to another, entry for entry."""

from collections.abc import Sequence
from contextlib import aclosing

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore


async def copy_run(source: ThoughtStore, target: ThoughtStore, run_id: str) -> Run:
    """Bring a store up to what another holds of a run; what it has already is not copied again.

    Claims are not copied: an earlier number is not refused by the target.

    Returns:
        The run, as both stores hold it now.

    Raises:
        ThoughtNotFound: The source has no such run.
        StorageError: A store failed, or the target holds something else under this id.
    """
    run = await source.load(run_id)
    held = await load_if_there(target, run_id)
    if held == run:
        return run
    entries = await read_entries(source, run)
    version = held.version if held else 0
    if held and (version > run.version or Run.replay(entries[:version]) != held):
        raise StorageError(
            f"there is another run {run_id!r} where it was to be copied to",
            "name another store, or delete it there",
        )
    await target.append(run, entries[version:], expected_version=version)
    if await load_if_there(target, run_id) != run:
        raise StorageError(
            f"the copy of run {run_id!r} is not like the original", "check the store it is in"
        )
    return run


async def read_entries(store: ThoughtStore, run: Run) -> Sequence[Entry]:
    """The entries that a run consists of, without those that were appended since.

    Raises:
        ThoughtNotFound: The store has no such run any more.
        StorageError: The store failed.
    """
    entries: list[Entry] = []
    async with aclosing(store.follow(run.run_id)) as steps:
        async for entry, at in steps:
            entries.append(entry)
            if at.version == run.version:
                break
    return entries


async def load_if_there(store: ThoughtStore, run_id: str) -> Run | None:
    """The run as of its last entry; None when the store has no such run."""
    try:
        return await store.load(run_id)
    except ThoughtNotFound:
        return None
