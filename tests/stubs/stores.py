"""Stores in front of another one, for tests that make it fail."""

import copy
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Self

import anyio

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import LOOK_AGAIN
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, ThoughtStore


class PassingStore(ThoughtStore):
    """Passes everything on; subclasses change what they are about."""

    def __init__(self, inner: ThoughtStore) -> None:
        self.inner = inner

    @property
    def place(self) -> str:
        return type(self).__name__.removesuffix("Storage").removesuffix("Store").lower()

    @property
    def degraded(self) -> tuple[str, ...]:
        return self.inner.degraded

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await self.inner.append(run, entries, expected_version=expected_version, fence=fence)

    async def claim(self, run_id: str) -> int:
        return await self.inner.claim(run_id)

    async def load(self, run_id: str) -> Run:
        return await self.inner.load(run_id)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        async with aclosing(self.inner.follow(run_id, after=after)) as steps:
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        return await self.inner.recent(limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        return await self.inner.search(query, limit=limit, only=only)

    async def delete(self, run_id: str) -> None:
        await self.inner.delete(run_id)

    async def catch_up(self) -> int:
        return await self.inner.catch_up()

    async def health(self) -> tuple[Health, ...]:
        return await self.inner.health()

    def scoped(self, tenant: str) -> Self:
        """What a subclass changes holds for every tenant."""
        view = copy.copy(self)
        view.inner = self.inner.scoped(tenant)
        return view

    async def aclose(self) -> None:
        await self.inner.aclose()


@dataclass(eq=False)
class Switch:
    """Whether a store can be reached, and what was asked of it."""

    down: bool = False
    keeps: bool = False
    """Whether what is appended while it is down is kept all the same: only the answer is lost."""
    poison: str | None = None
    """A run that the store refuses to take."""
    asked: int = 0
    """Calls, those that failed included."""
    appended: int = 0
    """Entries in appends that arrived, repeats included."""


class UnreachableStore(PassingStore):
    """Can be switched off and on, as a server that is stopped and started."""

    def __init__(self, inner: ThoughtStore, switch: Switch) -> None:
        super().__init__(inner)
        self.switch = switch

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        if run.run_id == self.switch.poison:
            raise StorageError("too large", "split it")
        if not self.switch.down or self.switch.keeps:
            await super().append(run, entries, expected_version=expected_version, fence=fence)
            self.switch.appended += len(entries)
        self._ask()

    async def claim(self, run_id: str) -> int:
        self._ask()
        return await super().claim(run_id)

    async def load(self, run_id: str) -> Run:
        self._ask()
        return await super().load(run_id)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        while True:
            self._ask()
            run = await self.inner.load(run_id)
            async with aclosing(self.inner.follow(run_id, after=after)) as steps:
                while after < run.version:
                    entry, at = await anext(steps)
                    after = at.version
                    yield entry, at
            if run.finished:
                return
            await anyio.sleep(LOOK_AGAIN)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        self._ask()
        return await super().recent(limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        self._ask()
        return await super().search(query, limit=limit, only=only)

    async def delete(self, run_id: str) -> None:
        self._ask()
        await super().delete(run_id)

    async def catch_up(self) -> int:
        self._ask()
        return await super().catch_up()

    async def health(self) -> tuple[Health, ...]:
        if self.switch.down:
            return (Health(part="remote:", works=False, found="not reachable"),)
        return await super().health()

    def _ask(self) -> None:
        self.switch.asked += 1
        if self.switch.down:
            failure = StorageError("remote: not reachable", "start it")
            failure.retryable = True
            raise failure
