"""The log of runs: the system of record, which decides versions and claims."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar

import anyio

from sifaka._internal.immutable import Frozen
from sifaka.errors import Fenced, SifakaError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.entry_json import apply_entry

T = TypeVar("T", str, bytes)
LOOK_AGAIN = 0.2
"""Seconds between two looks at a log that cannot wake its followers."""
_PAGE = 500


class RunPage(Frozen):
    """Some runs, newest first."""

    runs: tuple[RunSummary, ...]
    next_cursor: str | None = None
    """The cursor of the runs that follow; None at the end."""


class Health(Frozen):
    """The health of one part of a store."""

    part: str
    """Its name, such as its URL, without passwords."""
    works: bool
    found: str
    """The finding, or the fault and its suggestion, in one line."""


class RunLog(Protocol):
    """Append-only runs of one tenant, safe to share between tasks and, mostly, processes.

    Every method raises `StorageError` when the log fails, and those about one run raise
    `ThoughtNotFound` when the tenant has no such run.
    """

    @property
    def place(self) -> str:
        """The place of the runs, for people, and to tell two logs apart; without secrets."""
        ...

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none.

        An append that is there already, entry for entry, is done. After a failure a repeated
        append tells whether the entries were kept. One of no entries asks whether the next one
        would be refused.

        Args:
            run: The run as it is after the entries; its summary is kept for lists.
            entries: The entries, in order; with `expected_version` 0 the first is `Started`.
            expected_version: The number of entries before them; 0 creates the run.
            fence: The number from `claim` under which the run is worked on, 0 for its creator.
                None appends under any claim, such as a cancellation.

        Raises:
            Fenced: The run has been claimed since.
            VersionConflict: There is another number of entries.
        """
        ...

    async def claim(self, run_id: str) -> int:
        """Take a run over: from now on appends under an earlier number are refused.

        Returns:
            The number to append under, higher than any given before; 1 for the first claim.
        """
        ...

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        ...

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, without the first `after`, each with the run as it is after it.

        It waits for entries to come, which another process may append, and ends with a run that is
        finished. When the run is deleted meanwhile, it raises `ThoughtNotFound`.
        """
        ...

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs by time of their last entry, newest first; `cursor` continues an earlier page.

        Runs that cannot be read are left out and logged: others are not affected.

        Raises:
            ConfigurationError: The cursor is not one that this log gave out.
        """
        ...

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries, as they are stored."""
        ...

    async def delete(self, run_id: str) -> None:
        """Delete a run; one that is unknown is deleted already."""
        ...

    async def catch_up(self) -> int:
        """Do some of the work that was put off, such as removing expired runs from lists.

        The owner of an open store calls it now and then, from one task; each call takes a moment.

        Returns:
            About how much is left that could be done now; 0 when there is nothing.
        """
        ...

    async def health(self) -> tuple[Health, ...]:
        """Look at each part, within some seconds; a failure is told, not raised."""
        ...

    def scoped(self, tenant: str) -> "RunLog":
        """The same log as another tenant sees it."""
        ...

    async def aclose(self) -> None:
        """Release files and connections; a view that `scoped` made releases nothing."""
        ...


async def look_at(part: str, look: Callable[[], Awaitable[str]], *, seconds: float = 5) -> Health:
    """The health of a part by a trial, which says in one line what it found."""
    try:
        with anyio.fail_after(seconds):
            return Health(part=part, works=True, found=await look())
    except SifakaError as error:
        found = str(error)
    except TimeoutError:
        found = f"no answer within {seconds:g} seconds"
    return Health(part=part, works=False, found=found)


async def follow_by_polling(
    run_id: str, read: Callable[[int], Awaitable[Sequence[Entry]]], *, after: int
) -> AsyncGenerator[tuple[Entry, Run]]:
    """Every entry of a run, for logs that cannot wake a follower; see `RunLog.follow`.

    `read` gives the entries of the run beyond a version.
    """
    run: Run | None = None
    while True:
        for entry in await read(run.version if run else 0):
            run = apply_entry(run_id, run, entry)
            if run.version > after:
                yield entry, run
        if run is not None and run.finished:
            return
        await anyio.sleep(LOOK_AGAIN)


async def read_entries(log: RunLog, run_id: str, version: int) -> tuple[Run, list[Entry]]:
    """The first entries of a run, and the run after them."""
    entries: list[Entry] = []
    async with aclosing(log.follow(run_id)) as steps:
        async for entry, run in steps:
            entries.append(entry)
            if run.version >= version:
                return run, entries
    raise ThoughtNotFound(run_id)  # another run of this id ended with fewer


async def load_if_there(log: RunLog, run_id: str) -> Run | None:
    """The run as of its last entry; None when the log has no such run."""
    try:
        return await log.load(run_id)
    except ThoughtNotFound:
        return None


async def every_run(log: RunLog) -> AsyncGenerator[RunSummary]:
    """All runs of the log's tenant, newest first, page by page."""
    cursor: str | None = None
    while True:
        page = await log.recent(limit=_PAGE, cursor=cursor)
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
