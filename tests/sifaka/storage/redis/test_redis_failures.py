"""Each way in which a server can fail or refuse is one line that says what to do."""

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Generator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Stopped
from sifaka.storage.redis import RedisStorage, connections
from sifaka.storage.redis.store import judge
from tests.stubs.redis_server import RedisServer, command, redis_server
from tests.stubs.runs import draft, keep

pytestmark = pytest.mark.anyio


async def refused(work: Awaitable[object], *, retryable: bool) -> str:
    """The error of some work as people see it, which is one line."""
    with pytest.raises(StorageError) as caught:
        await work
    assert "\n" not in str(caught.value)
    assert caught.value.suggestion
    assert caught.value.retryable is retryable
    return str(caught.value)


@asynccontextmanager
async def saying(reply: bytes) -> AsyncGenerator[str]:
    """A server that says the same to everything; its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Clients hang up without a word.
        with contextlib.suppress(ConnectionError):
            while await reader.read(65_536):
                writer.write(reply)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_server_that_is_not_there_is_told_within_three_seconds() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening
        store = RedisStorage(f"redis://:s3cret@127.0.0.1:{taken.getsockname()[1]}/3")
        for ask in (lambda: store.load("run_0"), lambda: keep(store, "x"), store.catch_up):
            with anyio.fail_after(3):
                line = await refused(ask(), retryable=True)
            assert "cannot be reached" in line
            assert "SIFAKA_STORE" in line
            assert "s3cret" not in line
        (health,) = await store.health()
        assert not health.works
        assert "cannot be reached" in health.found
        await store.aclose()


@pytest.mark.slow
async def test_a_server_that_takes_no_connection_is_told_within_three_seconds() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        with socket.create_connection(full.getsockname()):
            # The queue is full: further connections get no answer, as from behind a firewall.
            store = RedisStorage(f"redis://127.0.0.1:{full.getsockname()[1]}")
            with anyio.fail_after(3):
                assert "does not answer" in await refused(store.load("run_0"), retryable=True)
            await store.aclose()


async def test_a_socket_file_works_like_a_port(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    with redis_server("--unixsocket", str(path), password="s3cret"):
        store = RedisStorage(f"unix://{path}?db=2&password=s3cret&prefix=ours&ttl=1h")
        run = await keep(store, "x")
        assert await store.load(run.run_id) == run
        assert [health.part for health in await store.health()] == [f"unix://{path}"]
        await store.aclose()


async def test_a_wrong_password_is_told_and_not_shown() -> None:
    with redis_server(password="right") as server:
        for login in ("", ":wr0ng@", "stranger:wr0ng@"):
            store = RedisStorage(server.url.replace("//", f"//{login}"))
            line = await refused(store.load("run_0"), retryable=False)
            assert "refuses the user name or the password" in line
            assert "wr0ng" not in line
            (health,) = await store.health()
            assert (health.part, health.works) == (server.url, False)
            assert "wr0ng" not in health.found
            with pytest.raises(StorageError, match="password"), anyio.fail_after(5):
                await anext(store.follow("run_0"))
            await store.aclose()
        store = RedisStorage(server.url)  # one that begins with a long command
        told = await refused(keep(store, "x"), retryable=False)
        assert "refuses the user name or the password" in told
        await store.aclose()

        store = RedisStorage(server.url.replace("//", "//:right@"))
        with pytest.raises(ThoughtNotFound):
            await store.load("run_0")
        await store.aclose()


async def test_a_server_that_hangs_is_waited_for_once_however_many_wait(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_AT_ONCE", 2)
    monkeypatch.setattr(connections, "_COMMAND_SECONDS", 0.5)
    store = RedisStorage(own_redis.url)
    errors: list[str] = []

    async def load() -> None:
        errors.append(await refused(store.load("run_0"), retryable=True))

    own_redis.process.send_signal(signal.SIGSTOP)
    with anyio.fail_after(20):  # one after the other it would take 50 s
        async with anyio.create_task_group() as group:
            for _ in range(200):
                group.start_soon(load)
    assert set(errors) == {errors[0]}
    assert "does not answer" in errors[0]
    own_redis.process.send_signal(signal.SIGCONT)
    with pytest.raises(ThoughtNotFound):
        await store.load("run_0")
    await store.aclose()


async def test_a_full_server_says_that_nothing_was_stored(own_redis: RedisServer) -> None:
    store = RedisStorage(own_redis.url)
    run = await keep(store, "one")
    await command(store, "CONFIG", "SET", "maxmemory", "1")

    assert "out of memory, and nothing was stored" in await refused(
        draft(store, run, "two"), retryable=True
    )
    # What is there can still be read, and once there is room again all goes on.
    assert await store.load(run.run_id) == run
    assert len((await store.search("one", limit=1)).hits) == 1
    await command(store, "CONFIG", "SET", "maxmemory", "0")
    await draft(store, run, "two")
    await store.aclose()


@pytest.mark.parametrize(
    ("answer", "shown", "retryable"),
    [
        (b"-LOADING Redis is loading the dataset in memory\r\n", "is still loading its data", True),
        (b"-READONLY You can't write against a read only replica.\r\n", "read-only replica", True),
        (b"-MISCONF Redis is configured to save RDB snapshots\r\n", "cannot save them", True),
        (b"-ERR something\tnew\r\n", "failed: something new", False),
    ],
)
async def test_a_refusal_is_one_line(answer: bytes, shown: str, retryable: bool) -> None:
    async with saying(answer) as url:
        store = RedisStorage(url)
        assert shown in await refused(store.claim("run_0"), retryable=retryable)
        await store.aclose()


async def test_a_closed_store_says_so(store: RedisStorage) -> None:
    run = await keep(store, "x")
    view = store.scoped("guest")
    await store.aclose()
    for ask in (lambda: store.load(run.run_id), lambda: view.recent(limit=1)):
        with pytest.raises(StorageError, match="is closed"):
            await ask()
    with pytest.raises(StorageError, match="is closed"):
        await anext(store.follow(run.run_id))


@pytest.mark.slow
def test_a_missing_package_is_told_with_the_command_that_installs_it() -> None:
    code = """
import sys, anyio
from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka.storage.redis import RedisStorage, connections
sys.modules["redis"] = None
try:
    anyio.run(RedisStorage("redis://:s3cret@localhost").load, "run_0")
except ConfigurationError as error:
    assert install("redis") in str(error), error
    assert "s3cret" not in str(error), error
else:
    raise AssertionError("nothing was said")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


ACL = Path(__file__).parents[4] / "examples" / "redis.acl"


@pytest.fixture
def guarded() -> Generator[RedisServer]:
    with redis_server("--aclfile", str(ACL)) as server:
        yield server


def opened(server: RedisServer, user: str, *, tenant: str) -> RedisStorage:
    login = f"//sifaka-{user}:change-me-{user}@"
    return RedisStorage(server.url.replace("//", login), tenant=tenant, ttl=1000)


async def test_a_user_does_everything_a_store_does_with_the_runs_of_its_tenant(
    guarded: RedisServer,
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


async def test_a_user_reaches_nothing_of_another_tenant(guarded: RedisServer) -> None:
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


async def test_a_script_of_its_own_lets_a_user_see_no_more_and_no_user_sees_nothing(
    guarded: RedisServer,
) -> None:
    store = RedisStorage(guarded.url)
    with pytest.raises(StorageError, match="refuses the user name or the password"):
        await store.load("run_0")
    await store.aclose()
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


async def test_a_server_tells_its_version_and_what_may_lose_runs(own_redis: RedisServer) -> None:
    store = RedisStorage(own_redis.url.replace("//", "//:unused@"))
    await store.aclose()
    store = RedisStorage(own_redis.url)
    (health,) = await store.health()
    assert (health.part, health.works) == (own_redis.url, True)
    assert health.found.startswith("Redis ")
    assert "appendonly is off" in health.found
    assert "evicted" not in health.found

    await command(store, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    (health,) = await store.health()
    assert health.works
    assert "maxmemory-policy is allkeys-lru: runs may be evicted, use noeviction" in health.found
    assert store.degraded == ()
    await store.aclose()


@pytest.mark.parametrize(
    ("version", "works"), [("5.0.14", False), ("6.0.16", False), ("6.2.14", True), ("8.0.1", True)]
)
def test_a_server_that_is_too_old_does_not_work(version: str, works: bool) -> None:
    info = {"redis_version": version, "aof_enabled": "1"}
    if works:
        assert version in judge(info)
    else:
        with pytest.raises(StorageError, match=version):
            judge(info)
