"""The promises of an append when the network, the server or sixteen others get in between."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from sifaka.errors import StorageError, VersionConflict
from sifaka.record.entries import Drafted
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import redis_server, shared_redis
from tests.stubs.tcp_proxy import lossy_proxy

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Command = Callable[..., Awaitable[Any]]


async def test_an_append_whose_reply_is_lost_is_there_once(
    keep: Keep, draft: Keep, prefix: str
) -> None:
    async with lossy_proxy(shared_redis().port) as proxy:
        store = RedisStorage(proxy.url, prefix=prefix)
        run = await keep(store, "one")

        proxy.lose_replies(b"EVAL")
        run = await draft(store, run, "two")
        assert proxy.lost == 1
        proxy.lose_replies(b"EVAL")
        other = await keep(store, "another", run_id="another")
        assert proxy.lost == 2

        assert await store.load(run.run_id) == run
        assert await store.load("another") == other
        await store.aclose()


async def test_an_append_that_gave_up_can_be_repeated(keep: Keep, draft: Keep, prefix: str) -> None:
    async with lossy_proxy(shared_redis().port) as proxy:
        store = RedisStorage(proxy.url, prefix=prefix)
        run = await keep(store, "one")
        entry = Drafted(thought=Thought(run_id=run.run_id, iteration=1, text="two"))
        after = run.apply(entry)
        proxy.lose_replies(b"EVAL", times=3)
        with pytest.raises(StorageError) as caught:
            await store.append(after, [entry], expected_version=run.version)
        assert caught.value.retryable
        await store.append(after, [entry], expected_version=run.version)
        later = await draft(store, after, "three")
        await store.append(after, [entry], expected_version=run.version)

        assert await store.load(run.run_id) == later
        await store.aclose()


async def test_a_server_that_forgets_its_scripts_is_told_again(
    store: RedisStorage, keep: Keep, draft: Keep, command: Command
) -> None:
    run = await keep(store, "one")
    assert await command(store, "SCRIPT", "FLUSH") == b"OK"

    run = await draft(store, run, "two")
    await command(store, "SCRIPT", "FLUSH")
    assert await store.claim(run.run_id) == 1
    await command(store, "SCRIPT", "FLUSH")
    await store.delete(run.run_id)

    assert (await store.recent(limit=1)).runs == ()


@pytest.mark.slow
async def test_sixteen_clients_of_one_run_lose_and_double_nothing(
    store: RedisStorage, keep: Keep, draft: Keep, prefix: str
) -> None:
    run = await keep(store)
    conflicts = 0

    async def write(writer: int) -> None:
        nonlocal conflicts
        client = RedisStorage(shared_redis().url, prefix=prefix)
        version = run.version
        for number in range(50):
            while True:
                known = run.model_copy(update={"version": version})
                try:
                    await draft(client, known, f"{writer}:{number}")
                except VersionConflict as conflict:
                    conflicts += 1
                    version = conflict.found
                else:
                    version += 1
                    break
        await client.aclose()

    with anyio.fail_after(100):
        async with anyio.create_task_group() as group:
            for writer in range(16):
                group.start_soon(write, writer)

    loaded = await store.load(run.run_id)
    texts = [thought.text for thought in loaded.thoughts]
    assert loaded.version == 801
    assert sorted(texts) == sorted(f"{w}:{n}" for w in range(16) for n in range(50))
    for writer in range(16):
        mine = [text for text in texts if text.startswith(f"{writer}:")]
        assert mine == [f"{writer}:{n}" for n in range(50)]
    assert conflicts, "the clients never met"


async def test_what_was_acknowledged_survives_kill_9_of_the_server(keep: Keep, draft: Keep) -> None:
    with redis_server(appendfsync="always") as server:
        store = RedisStorage(server.url)
        acknowledged: dict[str, Run] = {}
        enough = anyio.Event()

        async def write(name: str) -> None:
            run = acknowledged[name] = await keep(store, run_id=name)
            while True:
                try:
                    run = await draft(store, run, f"text {run.version} " * 400)
                except StorageError:
                    return
                acknowledged[name] = run
                if run.version == 30:
                    enough.set()

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for name in "abcd":
                    group.start_soon(write, name)
                await enough.wait()
                server.kill()
        server.start()

        assert len(acknowledged) == 4
        for name, run in acknowledged.items():
            loaded = await store.load(name)
            # The last append was perhaps kept, and its answer lost.
            assert loaded.version in {run.version, run.version + 1}
            assert loaded.thoughts[: len(run.thoughts)] == run.thoughts
        assert len((await store.recent(limit=9)).runs) == 4
        await store.aclose()


async def test_a_store_goes_on_after_a_restart_of_its_server(keep: Keep, draft: Keep) -> None:
    with redis_server(appendfsync="everysec") as server:
        store = RedisStorage(server.url)
        run = await keep(store, "before")
        server.stop()
        server.start()

        run = await draft(store, run, "after")

        assert await store.load(run.run_id) == run
        await store.aclose()


async def test_a_cancelled_append_is_there_or_not_and_the_store_works_on(
    store: RedisStorage, keep: Keep, draft: Keep
) -> None:
    run = await keep(store, "one")
    for delay in (0.0, 0.0001, 0.0005, 0.001):
        with anyio.move_on_after(delay):
            await draft(store, run, f"after {delay}")
        run = await store.load(run.run_id)

    assert await draft(store, run, "last") == await store.load(run.run_id)
