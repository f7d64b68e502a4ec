"""Our server as hosts run it: in this process, as a child on stdio, as a child on HTTP."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
from mcp import Client, StdioServerParameters

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.runs.service import RunKey
from sifaka_mcp.settings import Settings
from sifaka_mcp.state import AppState

if TYPE_CHECKING:
    from sifaka_mcp.runs.queue import RunQueue

Era = Literal["auto", "legacy"]
"""`auto` speaks 2026-07-28 with our server, `legacy` the handshake protocol before it."""
Transport = Literal["memory", "stdio", "http"]
HELLO: Mapping[str, Any] = {
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
INITIALIZED: Mapping[str, Any] = {"method": "notifications/initialized"}


def tell(process: subprocess.Popen[bytes], *messages: Mapping[str, Any]) -> None:
    """Write messages to a server on stdio."""
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next message of a server on stdio."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def state_of(server: SifakaServer) -> AppState:
    """What a server in this process works with."""
    assert server.state is not None, "it does not run"
    return server.state


async def let_go(server: SifakaServer, run_id: str) -> None:
    """Return when a server in this process does not work on a run any more."""
    state = state_of(server)
    while state.runs.works_on(state.key(run_id)):  # noqa: ASYNC110 - there is no event
        await anyio.sleep(0.01)


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a child: ours, without settings, with its own home, and no model."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIFAKA_")}
    return {**kept, "SIFAKA_HOME": str(home), "SIFAKA_EMBEDDING_MODEL": "none", **more}


def skewed(seconds: int) -> dict[str, str]:
    """The environment of a process, on Linux, whose clock is so many seconds off."""
    spec = importlib.util.find_spec("libfaketime")
    assert spec is not None, "the group dev brings it"
    assert spec.origin is not None
    library = Path(spec.origin).parent / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"{seconds:+}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def stdio_server(home: Path, **more: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "sifaka_mcp"],
        env=environment(home, **more),
        cwd=str(home),
    )


@contextmanager
def http_server(
    home: Path, module: str = "sifaka_mcp", **more: str
) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A server on a free port of the loopback; its URL and its process."""
    with subprocess.Popen(
        [sys.executable, "-m", module, "--transport", "http", "--port", "0"],
        env=environment(home, **more),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://\S+", line)
            assert found, f"the server said {line!r}"
            yield found.group(), process
        finally:
            process.kill()


@contextmanager
def worker(home: Path, *options: str, **more: str) -> Generator[subprocess.Popen[str]]:
    """A process of `sifaka worker`, which has said that it works."""
    with subprocess.Popen(
        [sys.executable, "-m", "sifaka_mcp.cli", "worker", *options],
        env=environment(home, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("sifaka: working on ")
            yield process
        finally:
            process.kill()


@asynccontextmanager
async def idle_queue(url: str, name: str) -> AsyncGenerator["RunQueue"]:
    """The queue of the workers, for a process that takes nothing out of it."""
    from sifaka_mcp.runs.queue import RunQueue  # it imports a client of Redis

    async def leave(key: RunKey, deaths: int, version: int) -> bool:
        del key, deaths, version
        return False

    queue = RunQueue(url, name=name, seconds=60, at_once=1, for_tenant=64)
    async with anyio.create_task_group() as group:
        group.start_soon(queue.serve, leave)
        await queue.opened()
        queue.stop()
        yield queue
        await queue.aclose()


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """What a process, on Linux, has had of the processors."""
    return time.clock_gettime(~process.pid << 3 | 2)  # as clock_getcpuclockid makes the clock's id


@asynccontextmanager
async def connected(transport: Transport, era: Era, home: Path) -> AsyncGenerator[Client]:
    """A real client of our server."""
    match transport:
        case "memory":
            server = SifakaServer(Settings(home=home, embedding_model=None))
            async with Client(server, mode=era) as client:
                yield client
        case "stdio":
            async with Client(stdio_server(home), mode=era) as client:
                yield client
        case "http":
            with http_server(home) as (url, _):
                async with Client(url, mode=era) as client:
                    yield client
