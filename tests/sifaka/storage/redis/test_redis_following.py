import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry, Stopped
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.log import Keys, follow_stream
from tests.stubs.redis_server import redis_server, shared_redis

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Until = Callable[..., Awaitable[None]]
Command = Callable[..., Awaitable[Any]]
SLICE = 0.05


def follower(store: RedisStorage, run_id: str) -> AsyncGenerator[tuple[Entry, Run]]:
    keys = Keys(store.prefix, store.tenant)
    return follow_stream(store.connections, keys, run_id, after=0, seconds=SLICE)


class Seen:
    """The entries that a follower has seen so far."""

    def __init__(self) -> None:
        self.steps: list[tuple[Entry, Run]] = []

    async def follow(self, who: AsyncGenerator[tuple[Entry, Run]]) -> None:
        async with aclosing(who) as steps:
            async for step in steps:
                self.steps.append(step)

    def reached(self, version: int) -> Callable[[], Awaitable[bool]]:
        async def look() -> bool:
            return bool(self.steps) and self.steps[-1][1].version == version

        return look


async def end(store: ThoughtStore, run: Run) -> Run:
    stop = Stopped(status="done", stop_reason="passed")
    after = run.apply(stop)
    await store.append(after, [stop], expected_version=run.version)
    return after


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)


async def slices(command: Command, store: RedisStorage) -> int:
    """The number of requests of followers that the server has answered."""
    for line in (await command(store, "INFO", "commandstats")).decode().splitlines():
        if line.startswith("cmdstat_xread:"):
            return int(line.partition("calls=")[2].partition(",")[0])
    return 0


@pytest.mark.slow
async def test_a_follower_in_another_process_outlasts_idle_times(
    store: RedisStorage, keep: Keep, draft: Keep, until: Until, command: Command, prefix: str
) -> None:
    run = await keep(store, "one")
    script = str(Path(__file__).parent / "follow_run.py")
    with started(script, shared_redis().url, prefix, run.run_id) as process:
        assert process.stdout
        lines = [await to_thread.run_sync(process.stdout.readline) for _ in range(2)]
        before = await slices(command, store)

        async def idle() -> bool:
            return await slices(command, store) >= before + 4

        await until(idle)
        run = await draft(store, run, "two")
        lines.append(await to_thread.run_sync(process.stdout.readline))
        before = await slices(command, store)
        await until(idle)
        await end(store, run)
        rest, _ = await to_thread.run_sync(lambda: process.communicate(timeout=100))
    assert process.returncode == 0
    assert "".join([*lines, rest]) == "started 1\ndrafted 2\ndrafted 3\nstopped 4\n"


async def test_a_follower_goes_on_after_a_restart_of_the_server(
    keep: Keep, draft: Keep, until: Until, tmp_path: Path
) -> None:
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
                await until(seen.reached(2))
                server.kill()
                # The follower finds no server, more than once.
                with pytest.raises(StorageError):
                    await store.load(run.run_id)
                server.start()
                run = await draft(store, run, "two")
                await until(seen.reached(3))
                await end(store, run)
        assert [at.version for _, at in seen.steps] == [1, 2, 3, 4]
        assert seen.steps[-1][1] == await store.load(run.run_id)
        await whole.aclose()
        await store.aclose()


async def test_a_follower_is_told_that_the_server_is_away(keep: Keep, until: Until) -> None:
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
                await until(seen.reached(2))
                server.kill()
        await store.aclose()


async def test_a_follower_leaves_when_its_run_is_deleted(
    store: RedisStorage, keep: Keep, until: Until
) -> None:
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
            await until(seen.reached(3))
            await until(seen_again.reached(3))
            await store.delete(run.run_id)
            # One that begins anew under the same id is not the run that is followed.
            await store.delete(again.run_id)
            await keep(store, "other", run_id=again.run_id)


async def test_a_follower_says_when_entries_were_evicted(
    store: RedisStorage, keep: Keep, until: Until, command: Command
) -> None:
    run = await keep(store, "one", "two")
    seen = Seen()

    async def watch() -> None:
        with pytest.raises(StorageError, match=r"entry 1 of run .* is missing"):
            await seen.follow(follower(store, run.run_id))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await until(seen.reached(3))
            await command(store, "DEL", Keys(store.prefix, "default").entries(run.run_id))


async def test_a_follower_is_cancelled_at_once_and_closes_its_connection(
    store: RedisStorage, keep: Keep, until: Until, command: Command
) -> None:
    run = await keep(store, "one")

    async def clients() -> int:
        return (await command(store, "CLIENT", "LIST")).count(b"cmd=xread")

    arrived = anyio.Event()

    async def follow() -> None:
        # With the slices of the store itself, which are much longer than the test waits.
        async with aclosing(store.follow(run.run_id)) as steps:
            async for _, at in steps:
                if at.version == 2:
                    arrived.set()

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        await arrived.wait()

        async def waits() -> bool:
            return await clients() == 1

        await until(waits)
        with anyio.fail_after(30):
            group.cancel_scope.cancel()
            await anyio.lowlevel.cancel_shielded_checkpoint()

    async def left() -> bool:
        return await clients() == 0

    await until(left)
    assert await store.load(run.run_id) == run


async def test_an_entry_arrives_without_waiting_for_the_slice(
    store: RedisStorage, keep: Keep, draft: Keep, until: Until, command: Command
) -> None:
    run = await keep(store, "one")
    seen: list[int] = []
    before = await slices(command, store)

    async def follow() -> None:
        async with aclosing(store.follow(run.run_id)) as steps:
            async for _, at in steps:
                seen.append(at.version)

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        for version in range(3, 23):
            run = await draft(store, run, f"text {version}")

            async def arrived(version: int = version) -> bool:
                return version in seen

            await until(arrived)
        group.cancel_scope.cancel()

    assert seen == list(range(1, 23))
    # It did not ask again and again.
    assert await slices(command, store) - before <= 25
