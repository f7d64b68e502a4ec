from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage.checkpoints import CachedCheckpointStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.tiers import CachedStorage
from sifaka.storage.tiers import cache as caching
from tests.sifaka.storage.tiers.layered import begin, draft, names

pytestmark = pytest.mark.anyio


async def test_a_cache_is_never_older_than_the_authority(tmp_path: Path) -> None:
    truth = SQLiteStorage(tmp_path / "runs.db")
    store = CachedStorage(MemoryStorage(), truth)
    run = await draft(truth, await begin(store), "by somebody else")
    assert await store.load(run.run_id) == run
    run = await draft(store, run, "and on")
    assert await store.load(run.run_id) == run
    await store.aclose()


async def test_a_cache_forgets_what_was_not_used_for_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "CACHED_RUNS", 2)
    memory = MemoryStorage()
    store = CachedStorage(memory, SQLiteStorage(tmp_path / "runs.db"))
    runs = [await begin(store) for _ in range(3)]
    runs[1] = await draft(store, runs[1], "x")
    runs.append(await begin(store))

    cached = {line.run_id for line in (await memory.recent(limit=9)).runs}
    assert cached == {runs[1].run_id, runs[3].run_id}
    assert await store.load(runs[0].run_id) == runs[0]
    await store.aclose()


async def test_nested_stores_are_one_row_of_tiers(tmp_path: Path) -> None:
    memory, middle, last = MemoryStorage(), SQLiteStorage(tmp_path / "a"), MemoryStorage()
    inner = CachedStorage(middle, last, queue=tmp_path / "queue.db")
    outer = CachedStorage(cache=memory, persistence=inner)

    assert outer.tiers == (memory, middle, last)
    assert outer.queue == tmp_path / "queue.db"
    assert CachedStorage.of([memory, middle, last]).tiers == outer.tiers
    for wrong in (lambda: CachedStorage.of([memory]), lambda: CachedStorage(memory, memory)):
        with pytest.raises(ConfigurationError):
            wrong()
    with pytest.raises(ConfigurationError, match="queues"):
        CachedStorage(memory, inner, queue=tmp_path / "other.db")
    run = await begin(outer)
    await outer.aclose()
    assert await last.load(run.run_id) == run


async def test_checkpoints_are_the_entries_of_a_store(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    checkpoints = CachedCheckpointStorage(store)
    run = await draft(checkpoints, await begin(checkpoints), "x")

    assert await store.load(run.run_id) == run
    assert "memory" in [part.part for part in await checkpoints.health()]
    await checkpoints.aclose()
    assert names(tmp_path) == ["runs.db"]
