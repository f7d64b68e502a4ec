"""Followers of runs, event loops that share a store, and runs whose time is over."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.store import Keys, follow_stream
from tests.stubs.redis_server import RedisServer, command, redis_server, shared_redis, until
from tests.stubs.runs import Seen, draft, keep, stop

pytestmark = pytest.mark.anyio

SLICE = 0.05


def follower(store: RedisStorage, run_id: str) -> AsyncGenerator[tuple[Entry, Run]]:
    keys = Keys(store.prefix, store.tenant)
    return follow_stream(store.connections, keys, run_id, after=0, seconds=SLICE)


async def slices(store: RedisStorage) -> int:
    """The number of requests of followers that the server has answered."""
    for line in (await command(store, "INFO", "commandstats")).decode().splitlines():
        if line.startswith("cmdstat_xread:"):
            return int(line.partition("calls=")[2].partition(",")[0])
    return 0


async def test_a_follower_goes_on_after_a_restart_of_the_server(tmp_path: Path) -> None:
    with redis_server(appendfsync="always") as server:
        store = RedisStorage(server.url)
        whole = CachedStorage(
            MemoryStorage(), RedisStorage(server.url), queue=tmp_path / "queue.db", retry_after=0.0
        )
        run = await keep(store, "one")
        seen = Seen()
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(seen.follow, whole.follow(run.run_id))
                await seen.until(2)
                server.kill()
                # The follower finds no server, more than once.
                with pytest.raises(StorageError):
                    await store.load(run.run_id)
                server.start()
                run = await draft(store, run, "two")
                await seen.until(3)
                await stop(store, run)
        assert seen.versions == [1, 2, 3, 4]
        assert seen.steps[-1][1] == await store.load(run.run_id)
        await whole.aclose()
        await store.aclose()


async def test_a_follower_is_told_that_the_server_is_away() -> None:
    with redis_server() as server:
        store = RedisStorage(server.url)
        run = await keep(store, "one")
        seen = Seen()

        async def watch() -> None:
            with pytest.raises(StorageError, match="cannot be reached") as caught:
                await seen.follow(follower(store, run.run_id))
            assert caught.value.retryable

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(watch)
                await seen.until(2)
                server.kill()
        await store.aclose()


async def test_a_follower_leaves_when_its_run_is_deleted(store: RedisStorage) -> None:
    run = await keep(store, "one", "two")
    again = await keep(store, "one", "two")
    seen, seen_again = Seen(), Seen()

    async def watch(what: Seen, run: Run) -> None:
        with pytest.raises(ThoughtNotFound) as caught:
            await what.follow(follower(store, run.run_id))
        assert caught.value.thought_id == run.run_id

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(watch, seen, run)
            group.start_soon(watch, seen_again, again)
            await seen.until(3)
            await seen_again.until(3)
            await store.delete(run.run_id)
            # One that begins anew under the same id is not the run that is followed.
            await store.delete(again.run_id)
            await keep(store, "other", run_id=again.run_id)


async def test_a_follower_says_when_entries_were_evicted(store: RedisStorage) -> None:
    run = await keep(store, "one", "two")
    seen = Seen()

    async def watch() -> None:
        with pytest.raises(StorageError, match=r"entry 1 of run .* is missing"):
            await seen.follow(follower(store, run.run_id))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await seen.until(3)
            await command(store, "DEL", Keys(store.prefix, "default").entries(run.run_id))


async def test_a_follower_is_cancelled_at_once_and_closes_its_connection(
    store: RedisStorage,
) -> None:
    run = await keep(store, "one")
    seen = Seen()

    async def clients(count: int) -> bool:
        return (await command(store, "CLIENT", "LIST")).count(b"cmd=xread") == count

    async with anyio.create_task_group() as group:
        # With the slices of the store itself, which are much longer than the test waits.
        group.start_soon(seen.follow, store.follow(run.run_id))
        await seen.until(2)
        await until(partial(clients, 1))
        with anyio.fail_after(30):
            group.cancel_scope.cancel()
            await anyio.lowlevel.cancel_shielded_checkpoint()

    await until(partial(clients, 0))
    assert await store.load(run.run_id) == run


async def test_an_entry_arrives_without_waiting_for_the_slice(store: RedisStorage) -> None:
    run = await keep(store, "one")
    seen = Seen()
    before = await slices(store)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(seen.follow, store.follow(run.run_id))
            for version in range(3, 23):
                run = await draft(store, run, f"text {version}")
                await seen.until(version)
            group.cancel_scope.cancel()

    assert seen.versions == list(range(1, 23))
    # It did not ask again and again.
    assert await slices(store) - before <= 25


def connected(server: RedisServer) -> Callable[[int], None]:
    """Waits until so many clients are left besides the one that asks."""

    async def wait(count: int) -> None:
        observer = RedisStorage(server.url)

        async def only() -> bool:
            info = await command(observer, "INFO", "clients")
            return f"connected_clients:{count + 1}\r".encode() in info

        await until(only)
        await observer.aclose()

    return lambda count: anyio.run(wait, count)


def test_several_loops_use_a_store_at_once(own_redis: RedisServer) -> None:
    store = RedisStorage(own_redis.url)
    meeting = threading.Barrier(4)

    async def work() -> None:
        await keep(store, "x")
        await to_thread.run_sync(meeting.wait, 100)
        for _ in range(10):
            await keep(store, "x")

    threads = [threading.Thread(target=anyio.run, args=(work,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    async def count() -> int:
        found = len((await store.recent(limit=100)).runs)
        await store.aclose()
        return found

    assert anyio.run(count) == 44
    connected(own_redis)(0)


@pytest.mark.slow
async def test_many_tasks_share_a_bounded_number_of_connections(own_redis: RedisServer) -> None:
    store = RedisStorage(own_redis.url)
    async with anyio.create_task_group() as group:
        for _ in range(300):
            group.start_soon(keep, store, "x")
    info = await command(store, "INFO", "clients")
    assert int(info.partition(b"connected_clients:")[2].split()[0]) <= 32
    assert len((await store.recent(limit=500)).runs) == 300
    # Two tasks may close it at the same time.
    await asyncio.gather(store.aclose(), store.aclose())


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


async def test_catching_up_forgets_expired_runs_at_the_end_of_the_list(prefix: str) -> None:
    short, forever = living(prefix, 0.2), living(prefix, None)
    for number in range(130):
        await keep(short, run_id=f"short_{number}")
    kept = await keep(forever)
    await until(gone(short, "short_129"))
    recent = Keys(prefix, "default").recent
    assert await command(short, "ZCARD", recent) == 131
    assert await command(short, "KEYS", f"{prefix}:*short*") == []

    assert await short.catch_up() > 0
    assert await short.catch_up() == 0

    assert await command(short, "ZRANGE", recent, 0, -1) == [kept.run_id.encode()]
    assert await forever.load(kept.run_id) == kept
    await short.aclose()
    await forever.aclose()
