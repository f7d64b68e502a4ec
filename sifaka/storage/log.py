"""Reading logs of runs: waiting for entries, going through all runs, taking them to other logs."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import TypeVar

import anyio

from sifaka.errors import Fenced, SifakaError, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.entry_json import extended
from sifaka.storage.protocol import Eraser, Health, ThoughtStore

logger = logging.getLogger(__name__)

T = TypeVar("T", str, bytes)
LOOK_AGAIN = 0.2
"""Seconds between two looks at a log that cannot wake its followers."""


async def look_at(part: str, look: Callable[[], Awaitable[str]], *, seconds: float = 5) -> Health:
    """The health of a part by a trial, which says in one line what it found."""
    try:
        with anyio.fail_after(seconds):
            return Health(part=part, works=True, found=await look())
    except SifakaError as error:
        fault = str(error)
    except TimeoutError:
        fault = f"no answer within {seconds:g} seconds"
    return Health(part=part, works=False, found=fault)


async def read_entries(log: ThoughtStore, run_id: str, version: int) -> tuple[Run, list[Entry]]:
    """The first entries of a run, and the run after them."""
    entries: list[Entry] = []
    async with aclosing(log.follow(run_id)) as steps:
        async for entry, run in steps:
            entries.append(entry)
            if run.version >= version:
                return run, entries
    raise ThoughtNotFound(run_id)  # another run of this id ended with fewer


async def load_if_there(log: ThoughtStore, run_id: str) -> Run | None:
    """The run as of its last entry; None when the log has no such run."""
    try:
        return await log.load(run_id)
    except ThoughtNotFound:
        return None


async def load_if_readable(log: ThoughtStore, run_id: str) -> Run | None:
    """The run; None when the log has no such run, or it cannot be read, which is logged."""
    try:
        return await load_if_there(log, run_id)
    except StorageError as error:
        if error.retryable:
            raise
        logger.warning("%s; the run is left out", error.message)
        return None


async def every_run(log: ThoughtStore) -> AsyncGenerator[RunSummary]:
    """All runs of the log's tenant, newest first, page by page."""
    cursor: str | None = None
    while True:
        page = await log.recent(limit=500, cursor=cursor)
        for line in page.runs:
            yield line
        cursor = page.next_cursor
        if cursor is None:
            return


def check_append(
    run_id: str, *, fence: int | None, current: int, expected: int, found: int
) -> None:
    """Refuse an append whose claim is not the last, or that expects another number of entries.

    Raises:
        Fenced: The run has been claimed since.
        VersionConflict: There is another number of entries.
    """
    if fence is not None and fence < current:
        raise Fenced(run_id, fence=fence, current=current)
    if found != expected:
        raise VersionConflict(run_id, expected=expected, found=found)


def holds(held: Sequence[T], payloads: Sequence[T], *, after: int) -> bool:
    """True when the log already holds these entries at this place; nothing is held nowhere."""
    end = after + len(payloads)
    return after < end <= len(held) and tuple(held[after:end]) == tuple(payloads)


Append = Callable[..., Awaitable[None]]
"""`ThoughtStore.append`."""


async def erase_each(
    log: ThoughtStore, lines: Sequence[RunSummary], archive: ThoughtStore | None = None
) -> frozenset[str]:
    """`Eraser.erase`, for any store; with an archive, each run after it was copied there.

    One that is no `Eraser` deletes run by run, each claimed first, so that its writer is refused.
    """
    if archive is None and isinstance(log, Eraser):
        return await log.erase(lines)
    stayed: set[str] = set()
    for line in lines:
        with suppress(ThoughtNotFound):  # it was gone already
            run = await log.load(line.run_id)
            claim = run.updated_at == line.updated_at and await log.claim(line.run_id)
            if claim and archive is not None:
                run = await _copy_claimed(log, archive, line.run_id, claim)
            if claim and await log.load(line.run_id) == run:
                await log.delete(line.run_id)
            else:
                stayed.add(line.run_id)
    return frozenset(stayed)


async def _copy_claimed(source: ThoughtStore, target: ThoughtStore, run_id: str, claim: int) -> Run:
    """Bring a store up to what another holds of a run; what it has already is not copied again.

    Every claim that the source refuses is refused by the target then.

    Returns:
        The run, as both stores hold it now.

    Raises:
        ThoughtNotFound: The source has no such run.
        StorageError: A store failed, the target holds something else under this id, or the run
            was claimed or continued meanwhile.
    """
    run = await source.load(run_id)
    run, entries = await read_entries(source, run_id, run.version)
    held: Run | None = None
    with suppress(VersionConflict):
        held = await push(target, run_id, 0, entries)
    if held is None or held.version > run.version:
        raise StorageError(
            f"there is another run {run_id!r} where it was to be copied to",
            "name another store, or delete it there",
        )
    if await load_if_there(target, run_id) != run:
        raise StorageError(
            f"the copy of run {run_id!r} is not like the original", "check the store it is in"
        )
    while await target.claim(run_id) <= claim:
        pass
    if await source.claim(run_id) != claim + 1 or await source.load(run_id) != run:
        raise StorageError(f"run {run_id!r} was taken up meanwhile", "try again later")
    return run


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
    as_known = known is not None and known.version == after
    held = known if as_known else await load_if_there(log, run_id)
    for _ in range(3):  # while another process appends to the same run
        version = held.version if held else 0
        if version < after:
            break
        missing = entries
        if held is not None and version > after:
            _, stored = await read_entries(log, run_id, version)
            overlap = stored[after:]
            if any(mine != theirs for mine, theirs in zip(entries, overlap, strict=False)):
                break
            missing = entries[len(overlap) :]
            if not missing:
                return held
        run = extended(held, missing)
        with suppress(VersionConflict):  # some of it may be there
            if run is not None:
                add = append or log.append
                await add(run, missing, expected_version=version, fence=fence)
                return run
        # Or they do not continue this run: it is another one under the same id.
        held = await load_if_there(log, run_id)
    raise VersionConflict(run_id, expected=after, found=held.version if held else 0)
