"""The speed of a Redis server by itself: commands packed before, over 16 connections."""

import re
import shutil
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast

from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.redis.connections import RedisClient, RedisConnections

T = TypeVar("T")
CONNECTIONS = 16
Word = str | bytes | float


class Recording(RedisConnections):
    """Connections that send nothing: they keep what the store would have sent."""

    def __init__(self) -> None:
        super().__init__(parse_store_url("redis://nowhere", REDIS))
        self._recorder = _Recorder()

    async def run(self, work: Callable[[RedisClient], T]) -> T:
        """Runs the work with a client that sends nothing, records commands and answers OK."""
        return work(self._recorder)

    @property
    def commands(self) -> list[tuple[Word, ...]]:
        """The commands, packed."""
        return self._recorder.commands


class _Info(Protocol):
    def info(self, section: str) -> Mapping[str, object]: ...


class _Recorder:
    def __init__(self) -> None:
        self.commands: list[tuple[Word, ...]] = []

    def execute_command(self, *args: Word) -> Any:
        self.commands.append(args)
        return (b"OK", 0)


def as_bytes(word: Word) -> bytes:
    """A part of a command, as redis-py sends it."""
    return word if isinstance(word, bytes) else str(word).encode()


def packed(words: Sequence[Word]) -> bytes:
    """A command as it goes over the wire."""
    parts = [as_bytes(word) for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts)


def commands_per_second(port: int, commands: Sequence[bytes], *, answer: bytes) -> float:
    """Sent by 16 connections, each of which waits for the answer before it sends the next.

    Args:
        port: The server's, on the loopback.
        commands: What is sent.
        answer: How each answer begins.
    """
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            for _ in range(CONNECTIONS)
        ]
        idle, waiting = deque(connections), deque[socket.socket]()
        started = perf_counter()
        for command in commands:
            if not idle:
                idle.append(_answered(waiting.popleft(), answer))
            connection = idle.popleft()
            connection.sendall(command)
            waiting.append(connection)
        for connection in waiting:
            _answered(connection, answer)
        return len(commands) / (perf_counter() - started)


def _answered(connection: socket.socket, answer: bytes) -> socket.socket:
    found = connection.recv(4096)
    assert found.startswith(answer), found
    return connection


def redis_benchmark(port: int, count: int, words: Sequence[Word]) -> float | None:
    """Commands a second by Redis' own program with 16 connections; None where there is none."""
    program = shutil.which("redis-benchmark")
    if program is None:
        return None
    options = ("-p", str(port), "-c", str(CONNECTIONS), "-n", str(count), "-r", "1000000000")
    command = [as_bytes(word) for word in words]
    done = subprocess.run(
        [program, *options, "-q", *command], capture_output=True, text=True, check=True
    )
    return float(re.findall(r"([\d.]+) requests per second", done.stdout)[-1])


def server_info(port: int, section: str) -> dict[str, float]:
    """The numeric fields of the server's INFO."""
    from redis import Redis

    with Redis(port=port) as client:
        found = cast("_Info", client).info(section)
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}


def server_seconds(port: int) -> float:
    """The processor's time that the server has used."""
    cpu = server_info(port, "cpu")
    return cpu["used_cpu_user"] + cpu["used_cpu_sys"]
