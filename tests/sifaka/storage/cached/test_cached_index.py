"""An index that is away, or behind its log."""

import copy
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Self

import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ANY, Filters, Hits
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import begin, catch_up, draft
from tests.storage_contract.indexes.of_log import IndexOfLog
from tests.stubs.stores import Switch

pytestmark = pytest.mark.anyio


class Index(IndexOfLog):
    """Can be switched off, and notes what is put."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(MemoryStorage())
        self.switch = switch
        self.put_versions: list[int] = []

    @property
    def place(self) -> str:
        return "index"

    async def put(self, run: Run, *, first: int = 0) -> None:
        self._ask()
        self.put_versions.append(len(run.thoughts) - first)
        await super().put(run, first=first)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        self._ask()
        return await super().search(query, limit=limit, only=only)

    async def drop(self, run_id: str) -> None:
        self._ask()
        await super().drop(run_id)

    def scoped(self, tenant: str) -> Self:
        view = copy.copy(self)
        view.store = self.store.scoped(tenant)
        return view

    def _ask(self) -> None:
        if self.switch.down:
            raise StorageError("not reachable", "start it", retryable=True)


@pytest.fixture
def index() -> Index:
    return Index(Switch())


@pytest.fixture
async def store(tmp_path: Path, index: Index) -> AsyncGenerator[CachedStorage]:
    store = made(tmp_path, index)
    yield store
    await store.aclose()


def made(folder: Path, index: Index) -> CachedStorage:
    log = SQLiteStorage(folder / "runs.db")
    return CachedStorage(log, index, queue=folder / "queue.db", retry_after=0.0)


async def test_an_index_gets_each_version_once(store: CachedStorage, index: Index) -> None:
    run = await begin(store)
    for text in ("a zebra", "a lion"):
        run = await draft(store, run, text)
        await catch_up(store)

    assert [n for n in index.put_versions if n] == [1, 1]
    hits = await store.search("lion", limit=3)
    assert ([hit.run_id for hit in hits.hits], hits.search) == ([run.run_id], "bm25")


async def test_an_index_that_is_away_is_told_and_caught_up(
    store: CachedStorage, index: Index
) -> None:
    index.switch.down = True
    run = await draft(store, await begin(store), "a zebra")

    hits = await store.search("zebra", limit=3)
    assert ([hit.run_id for hit in hits.hits], hits.search) == (
        [run.run_id],
        "bm25 (index is down)",
    )
    assert store.degraded == ("index: not reachable; 1 run is queued on disk",)

    index.switch.down = False
    await catch_up(store)
    assert await index.thoughts(run.run_id) == run.thoughts
    assert store.degraded == ()


async def test_a_run_that_is_deleted_while_the_index_is_away_is_dropped_later(
    store: CachedStorage, index: Index
) -> None:
    run = await draft(store, await begin(store), "a zebra")
    await catch_up(store)
    index.switch.down = True
    await store.delete(run.run_id)
    index.switch.down = False

    assert (await store.search("zebra", limit=3)).hits == ()
    assert await index.thoughts(run.run_id) == ()


async def test_another_process_brings_what_a_first_one_left_undone(
    tmp_path: Path, index: Index
) -> None:
    first = made(tmp_path, index)
    index.switch.down = True
    run = await draft(first, await begin(first), "a zebra")
    await first.aclose()

    index.switch.down = False
    second = made(tmp_path, index)
    await catch_up(second)
    assert await index.thoughts(run.run_id) == run.thoughts
    await second.aclose()


def test_an_index_alone_is_no_store(index: Index) -> None:
    with pytest.raises(ConfigurationError, match="no log"):
        CachedStorage(index, Index(Switch()))
