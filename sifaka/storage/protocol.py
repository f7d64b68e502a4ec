"""What every store does; one contract suite holds them all to it."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Protocol

from sifaka._internal.immutable import Frozen
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary


class RunPage(Frozen):
    """Some runs, newest first."""

    runs: tuple[RunSummary, ...]
    next_cursor: str | None = None
    """What to pass for the runs that follow; None at the end."""


class Filters(Frozen):
    """Which versions a search looks at; None, and no tag, mean any."""

    since: datetime | None = None
    """Written at this moment or later."""
    until: datetime | None = None
    """Written before this moment."""
    passed: bool | None = None
    """Of a run whose best version passes, or does not."""
    tags: tuple[str, ...] = ()
    """Of a run that has all of these tags."""


ANY = Filters()
"""Every version."""


class Hit(Frozen):
    """One past version that matches a query."""

    run_id: str
    thought_id: str
    score: float
    """Higher is better; comparable within one answer only."""
    snippet: str
    created_at: datetime


class Hits(Frozen):
    """What a search found, best first."""

    hits: tuple[Hit, ...]
    search: str
    """The kind of search that was used, such as `bm25`, and in parentheses what it lacked."""


class Health(Frozen):
    """Whether one part of a store works."""

    part: str
    """Its name, such as the URL of a tier, without passwords."""
    works: bool
    found: str
    """What was found, or what is wrong and what to do, in one line."""


class ThoughtStore(Protocol):
    """Append-only runs of one tenant, safe to share between tasks and, mostly, processes."""

    @property
    def place(self) -> str:
        """Where the runs are, for people, and to tell two stores apart; without secrets."""
        ...

    @property
    def degraded(self) -> tuple[str, ...]:
        """What is known, without looking, not to work as it should, one line each.

        It is told with every result, so it is for what affects the record, not for what a kind of
        store never does.
        """
        ...

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none.

        Args:
            run: The run as it is after the entries; stores keep its summary for lists.
            entries: What to append, in order; with `expected_version` 0 the first is `Started`.
            expected_version: How many entries the store must hold before; 0 creates the run.
            fence: The number from `claim` under which the run is worked on, 0 for who creates it.
                None is for what anybody may append at any time, such as a cancellation.

        Raises:
            Fenced: Somebody has claimed the run since.
            VersionConflict: The store holds another number of entries.
            StorageError: The store failed; whether it kept the entries, a repeated append tells.

        An append that the store already has, entry for entry, is neither: it is done already.
        """
        ...

    async def claim(self, run_id: str) -> int:
        """Take a run over: from now on appends under an earlier number are refused.

        Returns:
            The number to append under, higher than any given before; 1 for the first claim.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: The store failed.
        """
        ...

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: The store failed, or what it holds cannot be read.
        """
        ...

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included, each with the run as it is after it.

        Whoever works on the run may be another process. It ends with a run that is finished, and
        waits as long as that takes.

        Args:
            run_id: The run.
            after: How many entries to leave out at the beginning.

        Raises:
            ThoughtNotFound: This tenant has no such run, or not any more.
            StorageError: The store failed.
        """
        ...

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs by time of their last entry, newest first; `cursor` continues an earlier page.

        What cannot be read is left out and logged: others are not affected.

        Raises:
            ConfigurationError: The cursor is not one that this store gave out.
            StorageError: The store failed.
        """
        ...

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions whose text or task matches a query; any string is a valid query.

        Raises:
            StorageError: The store failed.
        """
        ...

    async def size(self, run_id: str) -> int:
        """How many bytes the entries of a run take, as they are stored.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: The store failed.
        """
        ...

    async def delete(self, run_id: str) -> None:
        """Forget a run with everything that was made of it; one that is unknown is forgotten.

        Raises:
            StorageError: The store failed.
        """
        ...

    async def catch_up(self) -> int:
        """Do some of the work that was put off: missing vectors, appends a tier has not got yet.

        Whoever keeps a store open calls it now and then, from one task; each call takes a moment.

        Returns:
            About how much is left that could be done now; 0 when there is nothing.

        Raises:
            StorageError: The store failed; what was put off stays so.
        """
        ...

    async def health(self) -> tuple[Health, ...]:
        """Look at each part of the store, within some seconds; what fails is told, not raised."""
        ...

    def scoped(self, tenant: str) -> "ThoughtStore":
        """The same store as another tenant sees it."""
        ...

    async def aclose(self) -> None:
        """Release files and connections; the store is not used afterwards."""
        ...
