"""The users of `examples/redis.acl` reach their own tenant's runs, and nothing else."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka.errors import StorageError
from sifaka.record.entries import Stopped
from sifaka.record.run import Run
from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Command = Callable[..., Awaitable[Any]]
ACL = Path(__file__).parents[4] / "examples" / "redis.acl"


@pytest.fixture
def guarded() -> Generator[RedisServer]:
    with redis_server("--aclfile", str(ACL)) as server:
        yield server


def opened(server: RedisServer, user: str, *, tenant: str) -> RedisStorage:
    login = f"//sifaka-{user}:change-me-{user}@"
    return RedisStorage(server.url.replace("//", login), tenant=tenant, ttl=1000)


async def test_a_user_does_everything_a_store_does_with_the_runs_of_its_tenant(
    guarded: RedisServer, keep: Keep, draft: Keep
) -> None:
    store = opened(guarded, "ann", tenant="ann")
    parent = await keep(store, "one")
    run = await draft(store, await keep(store, "two", branch_of=parent.run_id), "three")
    stop = Stopped(status="done", stop_reason="passed")
    ended = run.apply(stop)
    fence = await store.claim(run.run_id)
    await store.append(ended, [stop], expected_version=run.version, fence=fence)

    assert await store.load(run.run_id) == ended
    with anyio.fail_after(30):
        async with aclosing(store.follow(run.run_id)) as steps:
            assert [after.version async for _, after in steps] == [1, 2, 3, 4]
    page = await store.recent(limit=1)
    assert len((await store.recent(limit=1, cursor=page.next_cursor)).runs) == 1
    assert len((await store.search("three", limit=5)).hits) == 1
    assert await store.catch_up() == 0
    (health,) = await store.health()
    assert health.works
    assert health.found.startswith("Redis ")
    await store.delete(run.run_id)
    await store.aclose()


async def test_a_user_reaches_nothing_of_another_tenant(guarded: RedisServer, keep: Keep) -> None:
    bob = opened(guarded, "bob", tenant="bob")
    run = await keep(bob, "a secret plan", run_id="x{ann}y")
    ann = opened(guarded, "ann", tenant="bob")  # the library is pointed at bob

    async def follow() -> None:
        async with aclosing(ann.follow(run.run_id)) as steps:
            await anext(steps)

    for ask in (
        lambda: ann.load(run.run_id),
        lambda: ann.claim(run.run_id),
        lambda: ann.recent(limit=5),
        lambda: ann.search("secret", limit=5),
        lambda: ann.delete(run.run_id),
        lambda: keep(ann, "mine", run_id="other"),
        follow,
    ):
        with pytest.raises(StorageError, match="does not let this user do that") as caught:
            await ask()
        assert not caught.value.retryable
        assert "redis.acl" in str(caught.value)
        assert "change-me" not in str(caught.value)
    assert await bob.load(run.run_id) == run
    assert len((await bob.recent(limit=5)).runs) == 1
    await ann.aclose()
    await bob.aclose()


async def test_a_script_of_its_own_lets_a_user_see_no_more(
    guarded: RedisServer, keep: Keep, command: Command
) -> None:
    bob = opened(guarded, "bob", tenant="bob")
    await keep(bob, "a secret plan", run_id="run_1")
    ann = opened(guarded, "ann", tenant="ann")

    for words in (
        ("EVAL", "return redis.call('HGETALL', 'sifaka:run:{bob}:run_1')", 0),
        ("EVAL", "return redis.call('HGET', 'sifaka:run:{bob}:run_1', 'summary')", 0),
        ("HGET", "sifaka:run:{bob}:run_1", "summary"),
        ("KEYS", "*"),
        ("CONFIG", "GET", "*"),
        ("FLUSHALL",),
        ("ACL", "LIST"),
    ):
        with pytest.raises(StorageError):
            await command(ann, *words)
    await ann.aclose()
    await bob.aclose()


async def test_without_a_user_there_is_no_access(guarded: RedisServer) -> None:
    store = RedisStorage(guarded.url)
    with pytest.raises(StorageError, match="refuses the user name or the password"):
        await store.load("run_0")
    await store.aclose()
