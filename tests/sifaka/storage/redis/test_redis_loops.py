"""One store in several event loops: one after another, and at once."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
import pytest
from anyio import to_thread

from sifaka.record.run import Run
from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import RedisServer

Keep = Callable[..., Coroutine[Any, Any, Run]]
Command = Callable[..., Awaitable[Any]]


def connected(server: RedisServer, command: Command, until: Any) -> Callable[[int], None]:
    """Waits until so many clients are left besides the one that asks."""

    async def wait(count: int) -> None:
        observer = RedisStorage(server.url)

        async def only() -> bool:
            info = await command(observer, "INFO", "clients")
            return f"connected_clients:{count + 1}\r".encode() in info

        await until(only)
        await observer.aclose()

    return lambda count: anyio.run(wait, count)


def test_each_loop_leaves_no_connection_behind(
    own_redis: RedisServer, keep: Keep, command: Command, until: Any
) -> None:
    store = RedisStorage(own_redis.url)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(keep, store, "x")

    for _ in range(3):
        anyio.run(work)  # which does not close the store
        connected(own_redis, command, until)(0)

    async def count() -> int:
        found = len((await store.recent(limit=50)).runs)
        await store.aclose()
        return found

    assert anyio.run(count) == 15
    connected(own_redis, command, until)(0)


def test_several_loops_use_a_store_at_once(
    own_redis: RedisServer, keep: Keep, command: Command, until: Any
) -> None:
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
    connected(own_redis, command, until)(0)


@pytest.mark.anyio
async def test_closing_in_one_loop_closes_the_connections_of_another(
    own_redis: RedisServer, keep: Keep, command: Command, until: Any
) -> None:
    store = RedisStorage(own_redis.url)
    used, done = threading.Event(), threading.Event()

    async def work() -> None:
        await keep(store, "x")
        used.set()
        await to_thread.run_sync(done.wait, 100)

    thread = threading.Thread(target=anyio.run, args=(work,))
    thread.start()
    assert await to_thread.run_sync(used.wait, 100)
    await store.aclose()
    await to_thread.run_sync(connected(own_redis, command, until), 0)
    done.set()
    await to_thread.run_sync(thread.join, 20)


@pytest.mark.slow
@pytest.mark.anyio
async def test_many_tasks_share_a_bounded_number_of_connections(
    own_redis: RedisServer, keep: Keep, command: Command
) -> None:
    store = RedisStorage(own_redis.url)
    async with anyio.create_task_group() as group:
        for _ in range(300):
            group.start_soon(keep, store, "x")
    info = await command(store, "INFO", "clients")
    assert int(info.partition(b"connected_clients:")[2].split()[0]) <= 32
    assert len((await store.recent(limit=500)).runs) == 300
    # Two tasks may close it at the same time.
    await asyncio.gather(store.aclose(), store.aclose())
