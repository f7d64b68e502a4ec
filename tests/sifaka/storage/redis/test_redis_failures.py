"""Each way in which a server can fail is one line that says what to do, and never a password."""

import asyncio
import contextlib
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.redis import RedisStorage, connections
from sifaka.storage.redis.log import Keys
from tests.stubs.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Until = Callable[..., Awaitable[None]]
Command = Callable[..., Awaitable[Any]]


def told(error: StorageError, *, retryable: bool) -> str:
    """The error as people see it, which is one line."""
    line = str(error)
    assert "\n" not in line
    assert error.suggestion
    assert error.retryable is retryable
    return line


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


async def test_a_server_that_is_not_there_is_told_within_three_seconds(keep: Keep) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening
        store = RedisStorage(f"redis://:s3cret@127.0.0.1:{taken.getsockname()[1]}/3")
        for ask in (lambda: store.load("run_0"), lambda: keep(store, "x"), store.catch_up):
            with anyio.fail_after(3), pytest.raises(StorageError) as caught:
                await ask()
            line = told(caught.value, retryable=True)
            assert "cannot be reached" in line
            assert "SIFAKA_STORE" in line
            assert "s3cret" not in line
        (health,) = await store.health()
        assert not health.works
        assert "cannot be reached" in health.found
        await store.aclose()


async def test_a_server_that_takes_no_connection_is_told_within_three_seconds() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        with socket.create_connection(full.getsockname()):
            # The queue is full: further connections get no answer, as from behind a firewall.
            store = RedisStorage(f"redis://127.0.0.1:{full.getsockname()[1]}")
            with anyio.fail_after(3), pytest.raises(StorageError) as caught:
                await store.load("run_0")
            assert "does not answer" in told(caught.value, retryable=True)
            await store.aclose()


async def test_a_socket_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    store = RedisStorage(f"unix://{tmp_path / 'no.sock'}?db=1")
    with pytest.raises(StorageError) as caught:
        await store.load("run_0")
    assert "no.sock' cannot be reached" in told(caught.value, retryable=True)
    await store.aclose()


async def test_a_socket_file_works_like_a_port(tmp_path: Path, keep: Keep) -> None:
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
            with pytest.raises(StorageError) as caught:
                await store.load("run_0")
            line = told(caught.value, retryable=False)
            assert "refuses the user name or the password" in line
            assert "wr0ng" not in line
            (health,) = await store.health()
            assert (health.part, health.works) == (server.url, False)
            assert "wr0ng" not in health.found
            with pytest.raises(StorageError, match="password"), anyio.fail_after(5):
                await anext(store.follow("run_0"))
            await store.aclose()

        store = RedisStorage(server.url.replace("//", "//:right@"))
        with pytest.raises(ThoughtNotFound):
            await store.load("run_0")
        await store.aclose()


async def test_a_password_that_is_missing_is_told_to_who_begins_with_a_long_command(
    keep: Keep,
) -> None:
    with redis_server(password="right") as server:
        store = RedisStorage(server.url)
        with pytest.raises(StorageError) as caught:
            await keep(store, "x")
        assert "refuses the user name or the password" in told(caught.value, retryable=False)
        await store.aclose()


async def test_a_server_that_hangs_is_waited_for_once_however_many_wait(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_AT_ONCE", 2)
    monkeypatch.setattr(connections, "_COMMAND_SECONDS", 0.5)
    store = RedisStorage(own_redis.url)
    errors: list[StorageError] = []

    async def load() -> None:
        with pytest.raises(StorageError) as caught:
            await store.load("run_0")
        errors.append(caught.value)

    own_redis.process.send_signal(signal.SIGSTOP)
    with anyio.fail_after(20):  # one after the other it would take 50 s
        async with anyio.create_task_group() as group:
            for _ in range(200):
                group.start_soon(load)
    assert {told(error, retryable=True) for error in errors} == {str(errors[0])}
    assert "does not answer" in str(errors[0])
    own_redis.process.send_signal(signal.SIGCONT)
    with pytest.raises(ThoughtNotFound):
        await store.load("run_0")
    await store.aclose()


async def test_a_full_server_says_that_nothing_was_stored(
    own_redis: RedisServer, keep: Keep, draft: Keep, command: Command
) -> None:
    store = RedisStorage(own_redis.url)
    run = await keep(store, "one")
    await command(store, "CONFIG", "SET", "maxmemory", "1")

    with pytest.raises(StorageError) as caught:
        await draft(store, run, "two")
    assert "out of memory, and nothing was stored" in told(caught.value, retryable=True)
    # What is there can still be read, and once there is room again all goes on.
    assert await store.load(run.run_id) == run
    assert len((await store.search("one", limit=1)).hits) == 1
    await command(store, "CONFIG", "SET", "maxmemory", "0")
    await draft(store, run, "two")
    await store.aclose()


async def test_a_replica_that_may_not_be_written_to_says_so(
    own_redis: RedisServer, keep: Keep, draft: Keep, command: Command
) -> None:
    store = RedisStorage(own_redis.url)
    run = await keep(store, "one")
    await command(store, "REPLICAOF", "127.0.0.1", 1)

    with pytest.raises(StorageError) as caught:
        await draft(store, run, "two")
    assert "is a read-only replica" in told(caught.value, retryable=True)
    await store.aclose()


async def test_a_server_that_cannot_save_says_so(
    tmp_path: Path, keep: Keep, draft: Keep, until: Until, command: Command
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with redis_server("--dir", str(folder)) as server:
        store = RedisStorage(server.url)
        await command(store, "CONFIG", "SET", "save", "3600 1")
        run = await keep(store, "one")
        shutil.rmtree(folder)
        await command(store, "BGSAVE")

        async def failed() -> bool:
            info = await command(store, "INFO", "persistence")
            return b"rdb_last_bgsave_status:err" in info

        await until(failed)
        with pytest.raises(StorageError) as caught:
            await draft(store, run, "two")
        assert "cannot save" in told(caught.value, retryable=True)
        await store.aclose()


@pytest.mark.parametrize(
    ("answer", "shown", "retryable"),
    [
        (b"-LOADING Redis is loading the dataset in memory\r\n", "is still loading its data", True),
        (b"-ERR something\tnew\r\n", "failed: something new", False),
    ],
)
async def test_a_refusal_is_one_line(answer: bytes, shown: str, retryable: bool) -> None:
    async with saying(answer) as url:
        store = RedisStorage(url)
        with pytest.raises(StorageError) as caught:
            await store.claim("run_0")
        assert shown in told(caught.value, retryable=retryable)
        await store.aclose()


async def test_keys_of_other_programs_are_told(
    store: RedisStorage, keep: Keep, command: Command
) -> None:
    await command(store, "SET", Keys(store.prefix, "default").run("run_0"), "theirs")

    with pytest.raises(StorageError) as caught:
        await store.load("run_0")
    assert "choose another prefix" in told(caught.value, retryable=False)
    with pytest.raises(StorageError) as caught:
        await keep(store, "x", run_id="run_0")
    assert "choose another prefix" in told(caught.value, retryable=False)


async def test_a_closed_store_says_so(store: RedisStorage, keep: Keep) -> None:
    run = await keep(store, "x")
    view = store.scoped("guest")
    await store.aclose()

    for ask in (lambda: store.load(run.run_id), lambda: view.recent(limit=1)):
        with pytest.raises(StorageError, match="is closed"):
            await ask()
    with pytest.raises(StorageError, match="is closed"):
        await anext(store.follow(run.run_id))


@pytest.mark.slow
def test_nothing_of_redis_is_imported_before_a_store_is_used() -> None:
    code = """
import sys
import sifaka
from sifaka.storage.redis import RedisStorage, connections
RedisStorage("redis://localhost?ttl=7d")
assert not {name for name in sys.modules if name.split(".")[0] == "redis"}, "imported"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.slow
def test_a_missing_package_is_told_with_the_command_that_installs_it() -> None:
    code = """
import sys, anyio
from sifaka.errors import ConfigurationError
from sifaka.storage.redis import RedisStorage, connections
sys.modules["redis"] = None
try:
    anyio.run(RedisStorage("redis://:s3cret@localhost").load, "run_0")
except ConfigurationError as error:
    assert "pip install 'sifaka-mcp[redis]'" in str(error), error
    assert "s3cret" not in str(error), error
else:
    raise AssertionError("nothing was said")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


async def test_what_uvloop_says_of_a_closed_connection_is_a_lost_connection() -> None:
    tried: list[int] = []

    async def work(client: Any) -> str:
        tried.append(len(tried))
        if len(tried) == 1:
            raise RuntimeError("unable to perform operation on <x>; the handler is closed")
        return "answer"

    asked = connections.RedisConnections(parse_store_url("redis://127.0.0.1:1", REDIS))
    assert await asked.run(work) == "answer"
    await asked.aclose()
    assert tried == [0, 1]
