"""Transfer of runs between logs, entry for entry."""

from collections.abc import Awaitable, Callable, Sequence

from sifaka.errors import StorageError, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import extended
from sifaka.storage.log import load_if_there, read_entries
from sifaka.storage.protocol import ThoughtStore

_ATTEMPTS = 3
"""Attempts while another process appends to the same run."""


Append = Callable[..., Awaitable[None]]
"""`ThoughtStore.append`."""


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
    run, entries = await read_entries(source, run_id, run.version)
    try:
        held = await push(target, run_id, 0, entries)
    except VersionConflict as conflict:
        raise _another(run_id) from conflict
    if held.version > run.version:
        raise _another(run_id)
    if await load_if_there(target, run_id) != run:
        raise StorageError(
            f"the copy of run {run_id!r} is not like the original", "check the store it is in"
        )
    return run


def _another(run_id: str) -> StorageError:
    return StorageError(
        f"there is another run {run_id!r} where it was to be copied to",
        "name another store, or delete it there",
    )


async def push(
    log: ThoughtStore,
    run_id: str,
    after: int,
    entries: Sequence[Entry],
    *,
    fence: int | None = None,
    known: Run | None = None,
    append: Append | None = None,
) -> Run:
    """Append what a log lacks of some entries; those that it has already are recognised.

    Args:
        log: The log.
        run_id: The run.
        after: The number of the run's entries before them.
        entries: The entries that the log has to hold in the end.
        fence: As in `ThoughtStore.append`.
        known: The run as the log is believed to hold it, which saves reading it.
        append: Instead of the log's own.

    Returns:
        The run with the entries; later entries of the log may be in it.

    Raises:
        AppendRefused: The log holds other entries there, or too few before them, or was claimed.
    """
    if known is not None and known.version == after:
        held: Run | None = known
    else:
        held = await load_if_there(log, run_id)
    for _ in range(_ATTEMPTS):
        version = held.version if held else 0
        if version < after:
            break
        lacking = entries
        if held is not None and version > after:
            _, there = await read_entries(log, run_id, version)
            overlap = there[after:]
            if any(mine != theirs for mine, theirs in zip(entries, overlap, strict=False)):
                break
            lacking = entries[len(overlap) :]
            if not lacking:
                return held
        try:
            return await _append(append or log.append, run_id, held, lacking, fence)
        except VersionConflict:
            held = await load_if_there(log, run_id)  # some of it may be there
    raise VersionConflict(run_id, expected=after, found=held.version if held else 0)


async def _append(
    append: Append, run_id: str, run: Run | None, entries: Sequence[Entry], fence: int | None
) -> Run:
    before = run.version if run else 0
    after = extended(run, entries)
    if after is None:
        # They do not continue this run: it is another one under the same id.
        raise VersionConflict(run_id, expected=before + len(entries), found=before)
    await append(after, entries, expected_version=before, fence=fence)
    return after
