"""What everything above the storage sees: an index that is searched, and a store of runs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from sifaka._internal.immutable import Frozen
from sifaka.record.run import Run, RunSummary
from sifaka.record.thought import Thought
from sifaka.storage.log import Health, RunLog, RunPage

__all__ = [
    "ANY",
    "Eraser",
    "Filters",
    "Health",
    "Hit",
    "Hits",
    "RunPage",
    "SearchIndex",
    "ThoughtStore",
]


class Filters(Frozen):
    """Filters on the versions of a search; None, and no tag, mean any."""

    since: datetime | None = None
    """Written at this moment or later."""
    until: datetime | None = None
    """Written before this moment."""
    passed: bool | None = None
    """Of a run whose best version passes, or does not."""
    tags: tuple[str, ...] = ()
    """Of a run that has all of these tags."""

    def admit_run(self, *, passed: bool, tags: Iterable[str]) -> bool:
        """True when versions of such a run are looked at."""
        return (self.passed is None or passed == self.passed) and set(self.tags) <= set(tags)

    def admit_time(self, created_at: datetime) -> bool:
        """True when a version of this moment is looked at."""
        return (self.since is None or created_at >= self.since) and (
            self.until is None or created_at < self.until
        )


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
    """The versions that a search found, best first."""

    hits: tuple[Hit, ...]
    search: str
    """The kind of search that was used, such as `bm25`, and in parentheses what it lacked."""


@runtime_checkable
class SearchIndex(Protocol):
    """The versions of one tenant's runs, to be searched. It decides nothing about runs.

    It holds each `Thought` whole, so every version that was indexed can be read from it. Every
    method raises `StorageError` when the index fails.
    """

    @property
    def place(self) -> str:
        """The place of the index, without secrets."""
        ...

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable; what is there of them is replaced.

        Args:
            run: The run as its log has it.
            first: The number of versions at the beginning that are there as they are now.
        """
        ...

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions whose text or task matches a query; any string is a valid query."""
        ...

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order; none for an unknown run."""
        ...

    async def drop(self, run_id: str) -> None:
        """Forget a run; one that is unknown is forgotten."""
        ...

    async def catch_up(self) -> int:
        """Do some of the work that was put off, such as vectors; about how much is left."""
        ...

    async def health(self) -> tuple[Health, ...]:
        """Look at each part, within some seconds; a failure is told, not raised."""
        ...

    def scoped(self, tenant: str) -> "SearchIndex":
        """The same index as another tenant sees it."""
        ...

    async def aclose(self) -> None:
        """Release connections; a view that `scoped` made releases nothing."""
        ...


@runtime_checkable
class Eraser(Protocol):
    """A store that deletes many runs at once."""

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete the runs that are still as these lines say.

        With no lines it erases what deleted runs have left, as far as it can: words in an index,
        free pages, journals. That may take a while.

        Returns:
            The ids of the runs that have changed meanwhile and stay.

        Raises:
            StorageError: The store failed; the runs are there, or a repetition deletes the rest.
        """
        ...


class ThoughtStore(RunLog, Protocol):
    """A log of runs that can be searched, and that tells how it is."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """The known failures, without looking for more, one line each.

        They are told with every result, so they are those that affect the record, not what a kind
        of store never does.
        """
        ...

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions whose text or task matches a query; any string is a valid query.

        Raises:
            StorageError: The store failed.
        """
        ...

    def scoped(self, tenant: str) -> "ThoughtStore":
        """The same store as another tenant sees it."""
        ...
