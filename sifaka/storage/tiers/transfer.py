"""Bringing one store to where another one is, an entry at a time never twice."""

from collections.abc import Sequence
from contextlib import aclosing

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.transfer import load_if_there

_ATTEMPTS = 3
"""How often to look again when somebody else appends to the same run meanwhile."""


async def read_until(store: ThoughtStore, run_id: str, version: int) -> tuple[Run, list[Entry]]:
    """The first entries of a run, and the run after them.

    Raises:
        ThoughtNotFound: This tenant has no such run.
        StorageError: The store failed, or has fewer entries than that.
    """
    entries: list[Entry] = []
    async with aclosing(store.follow(run_id)) as steps:
        async for entry, run in steps:
            entries.append(entry)
            if run.version >= version:
                return run, entries
    raise StorageError(
        f"run {run_id!r} has fewer entries than it had a moment ago", "check the store it is in"
    )


async def push(
    store: ThoughtStore,
    run_id: str,
    after: int,
    entries: Sequence[Entry],
    *,
    fence: int | None = None,
    known: Run | None = None,
) -> Run:
    """Append what the store lacks of some entries; what it has already is recognised.

    Args:
        store: Where to.
        run_id: Whose entries they are.
        after: How many entries of the run lie before them.
        entries: What the store has to hold in the end.
        fence: As in `ThoughtStore.append`.
        known: The run as the store is believed to hold it, which saves reading it.

    Returns:
        The run with the entries; what the store holds after them may be in it.

    Raises:
        VersionConflict: The store holds other entries there, or too few before them.
        Fenced: Somebody has claimed the run since.
        StorageError: The store failed.
    """
    if known is None or known.version != after:
        known = None
    if known is not None or after == 0:
        try:
            return await _append(store, run_id, known, entries, fence)
        except VersionConflict:
            pass  # some of it may be there: looked at now
    for _ in range(_ATTEMPTS):
        held = await load_if_there(store, run_id)
        version = held.version if held else 0
        if version < after:
            break
        lacking = entries
        if held is not None and version > after:
            _, there = await read_until(store, run_id, version)
            overlap = there[after:]
            if any(mine != theirs for mine, theirs in zip(entries, overlap, strict=False)):
                break
            lacking = entries[len(overlap) :]
            if not lacking:
                return held
        try:
            return await _append(store, run_id, held, lacking, fence)
        except VersionConflict:
            continue
    held = await load_if_there(store, run_id)
    raise VersionConflict(run_id, expected=after, found=held.version if held else 0)


async def read_all(store: ThoughtStore, run_id: str) -> tuple[Run, list[Entry]] | None:
    """A run with its entries; None when the store has no such run.

    Raises:
        StorageError: The store failed.
    """
    run = await load_if_there(store, run_id)
    if run is None:
        return None
    try:
        return await read_until(store, run_id, run.version)
    except ThoughtNotFound:
        return None  # deleted meanwhile


async def make_equal(copy: ThoughtStore, run_id: str, run: Run, entries: Sequence[Entry]) -> None:
    """Make the copy of a run exactly this; what is there already is left as it is.

    Raises:
        StorageError: The copy failed.
    """
    held = await load_if_there(copy, run_id)
    if held is None or held.version <= run.version:
        try:
            await push(copy, run_id, 0, entries)
        except VersionConflict:
            pass  # it holds other entries
        else:
            return
    await copy.delete(run_id)
    await copy.append(run, entries, expected_version=0)


async def _append(
    store: ThoughtStore,
    run_id: str,
    run: Run | None,
    entries: Sequence[Entry],
    fence: int | None,
) -> Run:
    before = run.version if run else 0
    try:
        after = Run.replay(entries) if run is None else run
        for entry in entries if run is not None else ():
            after = after.apply(entry)
    except (KeyError, ValueError) as error:
        # They do not continue this run: it is another one under the same id.
        raise VersionConflict(run_id, expected=before + len(entries), found=before) from error
    await store.append(after, entries, expected_version=before, fence=fence)
    return after
