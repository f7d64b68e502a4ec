"""Searches that a log feeds by itself: in its file, or by reading its runs."""

import copy
from typing import Self

from sifaka.errors import ThoughtNotFound
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.log import load_if_there
from sifaka.storage.protocol import ANY, Filters, Health, Hits, ThoughtStore
from tests.storage_contract.runs import entries_of


class IndexOfLog:
    """A store as an index: what is put is appended to its log."""

    def __init__(self, store: ThoughtStore, *, catches_up: bool = True) -> None:
        self.store = store
        self._catches_up = catches_up

    @property
    def place(self) -> str:
        return self.store.place

    async def put(self, run: Run, *, first: int = 0) -> None:
        held = await load_if_there(self.store, run.run_id)
        version = held.version if held else 0
        if run.version > version:
            await self.store.append(run, entries_of(run)[version:], expected_version=version)
        while self._catches_up and await self.store.catch_up():
            pass

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        return await self.store.search(query, limit=limit, only=only)

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        try:
            return (await self.store.load(run_id)).thoughts
        except ThoughtNotFound:
            return ()

    async def drop(self, run_id: str) -> None:
        await self.store.delete(run_id)

    async def catch_up(self) -> int:
        return await self.store.catch_up()

    async def health(self) -> tuple[Health, ...]:
        return await self.store.health()

    def scoped(self, tenant: str) -> Self:
        view = copy.copy(self)
        view.store = self.store.scoped(tenant)
        return view

    async def aclose(self) -> None:
        await self.store.aclose()
