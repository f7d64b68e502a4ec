"""What every store does; one contract suite holds them all to it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sifaka.entries import Entry
from sifaka.immutable import Frozen
from sifaka.run import Run, RunSummary


class RunPage(Frozen):
    """Some runs, newest first."""

    runs: tuple[RunSummary, ...]
    next_cursor: str | None = None
    """What to pass for the runs that follow; None at the end."""


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
    """The kind of search that was used, such as `bm25`."""


class ThoughtStore(Protocol):
    """Append-only runs of one tenant, safe to share between tasks and, mostly, processes."""

    async def append(self, run: Run, entries: Sequence[Entry], *, expected_version: int) -> None:
        """Make entries durable, all or none.

        Args:
            run: The run as it is after the entries; stores keep its summary for lists.
            entries: What to append, in order; with `expected_version` 0 the first is `Started`.
            expected_version: How many entries the store must hold before; 0 creates the run.

        Raises:
            VersionConflict: The store holds another number of entries. An append that the store
                already has, entry for entry, is not a conflict: it is done already.
            StorageError: The store failed; whether it kept the entries, a repeated append tells.
        """
        ...

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: The store failed, or what it holds cannot be read.
        """
        ...

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs by time of their last entry, newest first; `cursor` continues an earlier page.

        Raises:
            ConfigurationError: The cursor is not one that this store gave out.
        """
        ...

    async def search(self, query: str, *, limit: int) -> Hits:
        """Past versions whose text or task matches a query; any string is a valid query."""
        ...

    def scoped(self, tenant: str) -> "ThoughtStore":
        """The same store as another tenant sees it."""
        ...

    async def aclose(self) -> None:
        """Release files and connections; the store is not used afterwards."""
        ...
