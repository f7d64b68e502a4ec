from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_run_that_is_deleted_is_nowhere_any_more(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "The zebra sleeps.", "The zebra wakes.", prompt="stripes")
    kept = await keep(store, "The zebra eats.")

    await store.delete(run.run_id)

    for _ in range(2):
        with pytest.raises(ThoughtNotFound):
            await store.load(run.run_id)
        with pytest.raises(ThoughtNotFound):
            await store.size(run.run_id)
        assert [line.run_id for line in (await store.recent(limit=5)).runs] == [kept.run_id]
        hits = (await store.search("zebra stripes", limit=5)).hits
        assert [hit.run_id for hit in hits] == [kept.run_id]
        await store.delete(run.run_id)  # a second time, and one that never was
        await store.delete("run_0")


async def test_a_run_of_the_same_id_begins_anew(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "x")
    await store.claim(run.run_id)
    entries = await _entries(store, run)
    await store.delete(run.run_id)

    await store.append(run, entries, expected_version=0, fence=0)

    assert await store.load(run.run_id) == run


async def test_another_tenant_deletes_nothing_of_ours(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "x")

    await store.scoped("guest").delete(run.run_id)

    assert await store.load(run.run_id) == run


async def test_a_size_is_that_of_what_is_stored(store: ThoughtStore, keep: Keep) -> None:
    small = await keep(store, "x")
    large = await keep(store, "x" * 100_000)

    assert 200 < await store.size(small.run_id) < 5_000
    assert 100_000 < await store.size(large.run_id) < 110_000


async def _entries(store: ThoughtStore, run: Run) -> list[Entry]:
    found: list[Entry] = []
    async with aclosing(store.follow(run.run_id)) as steps:
        async for entry, after in steps:
            found.append(entry)
            if after.version == run.version:
                break
    return found
