from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.log import Keys, follow_stream
from tests.stubs.redis_server import shared_redis

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Until = Callable[..., Awaitable[None]]
Command = Callable[..., Awaitable[Any]]
LONG = 1000.0


def living(prefix: str, ttl: float | None) -> RedisStorage:
    return RedisStorage(shared_redis().url, prefix=prefix, ttl=ttl)


def gone(store: RedisStorage, run_id: str) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        try:
            await store.load(run_id)
        except ThoughtNotFound:
            return True
        return False

    return look


async def test_a_run_that_has_expired_is_nowhere_any_more(
    keep: Keep, until: Until, command: Command, prefix: str
) -> None:
    short, forever = living(prefix, 0.3), living(prefix, None)
    kept = await keep(forever, "The zebra sleeps.")
    await keep(short, "The zebra wakes.", run_id="short")

    await until(gone(short, "short"))

    assert [line.run_id for line in (await short.recent(limit=5)).runs] == [kept.run_id]
    assert [hit.run_id for hit in (await short.search("zebra", limit=5)).hits] == [kept.run_id]
    with pytest.raises(ThoughtNotFound):
        await short.claim("short")
    # Nothing is left of it, in the list neither.
    names = await command(short, "KEYS", f"{prefix}:*short*")
    assert names == []
    assert await command(short, "ZRANGE", Keys(prefix, "default").recent, 0, -1) == [
        kept.run_id.encode()
    ]
    await short.aclose()
    await forever.aclose()


async def test_every_append_lets_all_of_a_run_live_on(
    keep: Keep, draft: Keep, command: Command, prefix: str
) -> None:
    store = living(prefix, LONG)
    run = await keep(store, "one")
    keys = Keys(prefix, "default")
    names = [keys.run(run.run_id), keys.entries(run.run_id)]
    for name in names:
        assert await command(store, "PEXPIRE", name, 400_000) == 1

    await draft(store, run, "three")

    lives = [await command(store, "PTTL", name) for name in names]
    assert all(900_000 < life <= 1_000_000 for life in lives), lives
    await store.aclose()


async def test_a_claim_lets_nothing_live_longer(keep: Keep, command: Command, prefix: str) -> None:
    store = living(prefix, LONG)
    run = await keep(store, "one")
    name = Keys(prefix, "default").run(run.run_id)
    await command(store, "PEXPIRE", name, 400_000)

    assert await store.claim(run.run_id) == 1

    assert 300_000 < await command(store, "PTTL", name) <= 400_000
    await store.aclose()


async def test_without_a_time_to_live_nothing_expires(
    store: RedisStorage, keep: Keep, command: Command, prefix: str
) -> None:
    run = await keep(store, "one")

    assert await command(store, "PTTL", Keys(prefix, "default").run(run.run_id)) == -1
    assert await command(store, "PTTL", Keys(prefix, "default").entries(run.run_id)) == -1


async def test_catching_up_forgets_expired_runs_at_the_end_of_the_list(
    keep: Keep, until: Until, command: Command, prefix: str
) -> None:
    short, forever = living(prefix, 0.2), living(prefix, None)
    for number in range(130):
        await keep(short, run_id=f"run_{number}")
    kept = await keep(forever)
    await until(gone(short, "run_129"))
    recent = Keys(prefix, "default").recent
    assert await command(short, "ZCARD", recent) == 131

    assert await short.catch_up() > 0
    assert await short.catch_up() == 0

    assert await command(short, "ZRANGE", recent, 0, -1) == [kept.run_id.encode()]
    assert await forever.load(kept.run_id) == kept
    await short.aclose()
    await forever.aclose()


async def test_a_follower_leaves_when_its_run_expires(keep: Keep, prefix: str) -> None:
    store = living(prefix, 0.3)
    run = await keep(store, "one")
    keys = Keys(prefix, "default")

    async def follow() -> None:
        async with aclosing(
            follow_stream(store.connections, keys, run.run_id, after=0, seconds=0.05)
        ) as steps:
            async for _ in steps:
                pass

    with pytest.raises(ThoughtNotFound), anyio.fail_after(20):
        await follow()
    await store.aclose()
