from collections.abc import Awaitable, Callable

import pytest

from sifaka.record.run import Run
from sifaka.storage.protocol import ANY, Filters
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.keys import Keys
from sifaka.storage.redis.search import search_latest

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_search_reads_the_latest_runs_and_says_so(store: RedisStorage, keep: Keep) -> None:
    runs = [await keep(store, f"zebra number{n}") for n in range(45)]
    keys = Keys(store.prefix, "default")

    async def found(latest: int) -> tuple[set[str], str]:
        hits = await search_latest(
            store._connections,  # pyright: ignore[reportPrivateUsage]
            keys,
            "zebra",
            limit=100,
            only=ANY,
            latest=latest,
        )
        return {hit.run_id for hit in hits.hits}, hits.search

    assert await found(45) == ({run.run_id for run in runs}, "bm25")
    assert await found(44) == ({run.run_id for run in runs[1:]}, "bm25 (the latest 44 runs)")
    assert await found(1) == ({runs[-1].run_id}, "bm25 (the latest 1 runs)")


async def test_runs_that_a_filter_leaves_out_are_not_read(store: RedisStorage, keep: Keep) -> None:
    old = await keep(store, "zebra")
    new = await keep(store, "zebra", tags=("legal",))
    moment = new.thoughts[0].created_at

    async def found(only: Filters) -> list[str]:
        return [hit.run_id for hit in (await store.search("zebra", limit=5, only=only)).hits]

    assert await found(Filters(since=moment)) == [new.run_id]
    assert await found(Filters(tags=("legal",))) == [new.run_id]
    assert await found(Filters(until=moment)) == [old.run_id]
    assert await found(Filters(passed=True)) == []
