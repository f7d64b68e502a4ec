"""A store that refuses every change."""

from collections.abc import AsyncGenerator, Sequence

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, ThoughtStore


class ReadOnlyStore:
    """Another store, with every way to change it refused; see `ThoughtStore` for what it does.

    No tool of a read-only server writes. That none can is made sure here.
    """

    def __init__(self, store: ThoughtStore) -> None:
        self._store = store

    @property
    def place(self) -> str:
        """The store that has the runs."""
        return self._store.place

    @property
    def degraded(self) -> tuple[str, ...]:
        """The parts that are degraded, one line each."""
        return self._store.degraded

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Refused with a `StorageError`."""
        raise _refusal()

    async def claim(self, run_id: str) -> int:
        """Refused with a `StorageError`."""
        raise _refusal()

    async def delete(self, run_id: str) -> None:
        """Refused with a `StorageError`."""
        raise _refusal()

    async def catch_up(self) -> int:
        """Nothing is done, and nothing is left to do: writing what was put off is for others."""
        return 0

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self._store.load(run_id)

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included."""
        return self._store.follow(run_id, after=after)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first."""
        return await self._store.recent(limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions that match."""
        return await self._store.search(query, limit=limit, only=only)

    async def size(self, run_id: str) -> int:
        """The size of a run in bytes."""
        return await self._store.size(run_id)

    async def health(self) -> tuple[Health, ...]:
        """Look at each part of the store."""
        return await self._store.health()

    def scoped(self, tenant: str) -> ThoughtStore:
        """The same for another tenant."""
        return ReadOnlyStore(self._store.scoped(tenant))

    async def aclose(self) -> None:
        """Release what the store holds."""
        await self._store.aclose()


def _refusal() -> StorageError:
    return StorageError("this server is read-only", "use one that was started without --read-only")
