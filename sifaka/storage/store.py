"""A store made of one log and what searches it."""

import copy
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.index import ANY, Filters, Hits, SearchIndex
from sifaka.storage.log import Health, RunLog, RunPage
from sifaka.storage.scan import scan_log

Log = TypeVar("Log", bound=RunLog)


@dataclass(eq=False)
class LogStore(Generic[Log]):
    """A `ThoughtStore` of one log, and an index that the log itself feeds or a scan of the log."""

    log: Log
    """Holds the runs."""
    index: SearchIndex | None = None
    """Searches them, in the state of the log; None reads the runs themselves."""
    latest: int | None = field(default=None, kw_only=True)
    """How many of the newest runs a scan reads; None for all."""
    tenant: str = field(default="default", kw_only=True)
    """The tenant whose runs are seen."""
    degraded: tuple[str, ...] = field(default=(), init=False)
    """Nothing: a log works, or an append raises."""
    _owned: bool = field(default=True, init=False, repr=False)

    @property
    def place(self) -> str:
        """That of the log."""
        return self.log.place

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `RunLog.append`."""
        await self.log.append(run, entries, expected_version=expected_version, fence=fence)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `RunLog.claim`."""
        return await self.log.claim(run_id)

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self.log.load(run_id)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `RunLog.follow`."""
        async with aclosing(self.log.follow(run_id, after=after)) as steps:
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self.log.recent(limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions that match, by the index or by reading the latest runs.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to.
            StorageError: The store failed.
        """
        if self.index is not None:
            return await self.index.search(query, limit=limit, only=only)
        return await scan_log(self.log, query, limit=limit, only=only, latest=self.latest)

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries."""
        return await self.log.size(run_id)

    async def delete(self, run_id: str) -> None:
        """Delete a run with everything that was made of it."""
        await self.log.delete(run_id)

    async def catch_up(self) -> int:
        """Do what the log and the index have put off."""
        left = await self.log.catch_up()
        return left + (await self.index.catch_up() if self.index else 0)

    async def health(self) -> tuple[Health, ...]:
        """That of the log, then of the index."""
        return (*await self.log.health(), *(await self.index.health() if self.index else ()))

    def scoped(self, tenant: str) -> Self:
        """The same store as another tenant sees it."""
        view = copy.copy(self)
        view.log = self.log.scoped(tenant)  # pyright: ignore[reportAttributeAccessIssue] - a view of the same kind
        view.index = self.index and self.index.scoped(tenant)
        view.tenant, view._owned = tenant, False  # noqa: SLF001 - its own class
        return view

    async def aclose(self) -> None:
        """Release the log and the index; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self.log.aclose()
            if self.index is not None:
                await self.index.aclose()
