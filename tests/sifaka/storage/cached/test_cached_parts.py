from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.cached import CachedCheckpointStorage, CachedStorage
from sifaka.storage.memory import MemoryStorage, RunCache
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory, begin, draft, names


@pytest.mark.anyio
async def test_a_cache_is_never_older_than_the_authority(tmp_path: Path) -> None:
    truth = SQLiteStorage(tmp_path / "runs.db")
    store = CachedStorage(MemoryStorage(), truth)
    run = await draft(truth, await begin(store), "by another process")
    assert await store.load(run.run_id) == run
    run = await draft(store, run, "and on")
    assert await store.load(run.run_id) == run
    await store.aclose()


def test_a_cache_forgets_what_was_not_used_for_longest() -> None:
    cache = RunCache(2)
    started = [Started() for _ in range(3)]
    first, second, third = (Run.start(entry) for entry in started)
    cache.keep("ann", first, started[:1], after=0)
    cache.keep("ann", second, started[1:2], after=0)
    assert cache.get("ann", first.run_id)
    cache.keep("ann", third, started[2:], after=0)

    assert {run.run_id for run in cache.runs("ann")} == {first.run_id, third.run_id}
    assert cache.runs("bob") == []
    cache.evict("ann", first.run_id)
    assert cache.get("ann", first.run_id) is None


@pytest.mark.anyio
async def test_a_store_of_parts_may_be_the_log_of_another(tmp_path: Path) -> None:
    memory, middle, last = MemoryStorage(), SQLiteStorage(tmp_path / "a"), SearchIndexInMemory()
    inner = CachedStorage(middle, last, queue=tmp_path / "queue.db")
    outer = CachedStorage(cache=memory, persistence=inner)

    with pytest.raises(ConfigurationError, match="twice"):
        CachedStorage(memory, memory)
    run = await draft(outer, await begin(outer), "x")
    await outer.aclose()
    assert await last.load(run.run_id) == run


def test_a_second_log_is_refused_and_both_are_named(tmp_path: Path) -> None:
    first, second = (SQLiteStorage(tmp_path / name) for name in ("a", "b"))
    with pytest.raises(ConfigurationError, match="second log") as caught:
        CachedStorage(MemoryStorage(), CachedStorage(first, second))
    assert first.place in caught.value.message
    assert second.place in caught.value.message
    assert "archive" in (caught.value.suggestion or "")


@pytest.mark.anyio
async def test_checkpoints_are_the_entries_of_a_store(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    checkpoints = CachedCheckpointStorage(store)
    run = await draft(checkpoints, await begin(checkpoints), "x")

    assert await store.load(run.run_id) == run
    assert [part.part for part in await checkpoints.health()][1:] == ["queue in memory"]
    await checkpoints.aclose()
    assert names(tmp_path) == ["runs.db"]
