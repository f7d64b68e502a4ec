"""A store in front of another one, for tests that make it fail."""

from collections.abc import Sequence

from sifaka.entries import Entry
from sifaka.run import Run
from sifaka.storage.protocol import Hits, RunPage, ThoughtStore


class PassingStore:
    """Passes everything on; subclasses change what they are about."""

    def __init__(self, inner: ThoughtStore) -> None:
        self.inner = inner

    async def append(self, run: Run, entries: Sequence[Entry], *, expected_version: int) -> None:
        await self.inner.append(run, entries, expected_version=expected_version)

    async def load(self, run_id: str) -> Run:
        return await self.inner.load(run_id)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        return await self.inner.recent(limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int) -> Hits:
        return await self.inner.search(query, limit=limit)

    def scoped(self, tenant: str) -> ThoughtStore:
        return self.inner.scoped(tenant)

    async def aclose(self) -> None:
        await self.inner.aclose()
