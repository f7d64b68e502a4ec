"""A store of runs, as everything above the storage sees it."""

from typing import Protocol

from sifaka.storage.index import ANY, Filters, Hit, Hits
from sifaka.storage.log import Health, RunLog, RunPage

__all__ = ["ANY", "Filters", "Health", "Hit", "Hits", "RunPage", "ThoughtStore"]


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
