"""The memory of a server that does nothing, with each kind of store."""

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO

from mcp_types.version import LATEST_HANDSHAKE_VERSION

from benchmarks.report import Figure, Report
from benchmarks.servers import BARE, ROOT, SIFAKA, environment
from tests.stubs.redis_server import redis_server

_CLIENT = {"name": "benchmark", "version": "1"}
_LOADED_WITH_PYMILVUS = "/grpc/"
"""In the path of a library that pymilvus loads, and nothing else here."""
_SETTLED = 5
"""Looks without a change of more than 100 KB, after which a server counts as idle."""
_HANDSHAKE: Mapping[str, object] = MappingProxyType(
    {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": _CLIENT}
)


def measure() -> Report:
    """Resident memory of servers on stdio. It is read from /proc, which Linux has."""
    found: dict[str, int] = {}
    loaded: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as home, redis_server() as server:
        urls = {
            "memory:": "memory:",
            "sqlite:": "sqlite:",
            "file:": "file:",
            "redis:": server.url,
            "milvus: (Lite)": f"milvus:///{home}/milvus",
        }
        for name, url in urls.items():
            env = {**environment(home), "SIFAKA_STORE": url}
            found[name], loaded[name] = _idle(SIFAKA, env, "get_thought_history", {"query": "text"})
        bare, _ = _idle(BARE, environment(home), "echo", {"text": "a text"})
    in_milvus = loaded.pop("milvus: (Lite)")
    assert in_milvus, f"pymilvus is not known by {_LOADED_WITH_PYMILVUS!r} any more"
    return Report(
        title="idle_memory: a server on stdio, once it has searched its store",
        method="`python -m sifaka_mcp` with each store, once: "
        "`initialize`, `tools/list` and one search by `get_thought_history`, then its resident "
        "memory (VmRSS, libraries that processes share included) when it does not change any "
        "more. The Redis server is another process and is not counted; Milvus Lite is inside. "
        "Whether a process has loaded pymilvus is seen by the libraries of gRPC, which only "
        "pymilvus needs here, in /proc/PID/maps.",
        figures=(
            *(Figure(what=name, value=size / 1e6, unit="MB") for name, size in found.items()),
            Figure(what="bare server of the SDK", value=bare / 1e6, unit="MB"),
            Figure(
                what="other stores with pymilvus loaded",
                value=sum(loaded.values()),
                unit=f"of {len(loaded)}",
                most=0,
            ),
        ),
    )


def _idle(
    command: tuple[str, ...], env: Mapping[str, str], tool: str, arguments: Mapping[str, object]
) -> tuple[int, bool]:
    """Bytes that a server keeps in memory, and whether it has loaded pymilvus."""
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _say(process.stdin, "initialize", _HANDSHAKE, number=1)
            _result(process.stdout, 1)
            _say(process.stdin, "notifications/initialized", {})
            _say(process.stdin, "tools/list", {}, number=2)
            _result(process.stdout, 2)
            _say(process.stdin, "tools/call", {"name": tool, "arguments": arguments}, number=3)
            assert not _result(process.stdout, 3).get("isError")
            resident = _settled(process.pid)
            maps = Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
        finally:
            process.stdin.close()
            process.wait(timeout=20)
    return resident, _LOADED_WITH_PYMILVUS in maps


def _say(
    stream: IO[bytes], method: str, params: Mapping[str, object], *, number: int | None = None
) -> None:
    numbered = {} if number is None else {"id": number}
    message = {"jsonrpc": "2.0", **numbered, "method": method, "params": dict(params)}
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _result(stream: IO[bytes], number: int) -> Mapping[str, object]:
    for line in stream:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return message["result"]
    raise AssertionError("the server has ended")


def _settled(pid: int) -> int:
    seen = [_resident(pid)]
    while len(seen) <= _SETTLED or max(seen[-_SETTLED:]) - min(seen[-_SETTLED:]) > 100_000:
        time.sleep(0.2)
        seen.append(_resident(pid))
    return seen[-1]


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
