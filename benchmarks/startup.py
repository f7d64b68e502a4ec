"""The start-up time of a new server, against a server of the bare SDK."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from types import MappingProxyType
from typing import IO, Any

from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from benchmarks.report import Figure, Report
from benchmarks.servers import BARE, ROOT, SIFAKA, environment

PAIRS = 11
GOAL = 1.3
_CLIENT = {"name": "benchmark", "version": "1"}
_META = "io.modelcontextprotocol"
_MODERN = {
    "_meta": {
        f"{_META}/protocolVersion": LATEST_MODERN_VERSION,
        f"{_META}/clientInfo": _CLIENT,
        f"{_META}/clientCapabilities": {},
    }
}
_INITIALIZE = {
    "protocolVersion": LATEST_HANDSHAKE_VERSION,
    "capabilities": {},
    "clientInfo": _CLIENT,
}
Request = tuple[str, Mapping[str, Any]]
REQUESTS: Mapping[str, tuple[Request, Request]] = MappingProxyType(
    {
        LATEST_HANDSHAKE_VERSION: (("initialize", _INITIALIZE), ("tools/list", {})),
        LATEST_MODERN_VERSION: (("server/discover", _MODERN), ("tools/list", _MODERN)),
    }
)
"""The first two requests of a client of each era."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Seconds that the start of a server took."""

    first: float
    """Until its first answer."""
    listed: float
    """Until its answer to `tools/list`."""
    processor: float
    """Of the processor, until then."""


def measure() -> Report:
    """From spawning a server to its first answer, and to its tools."""
    figures: list[Figure] = []
    for era, (first, second) in REQUESTS.items():
        ours: list[Start] = []
        bare: list[Start] = []
        with tempfile.TemporaryDirectory() as home:
            for number in range(PAIRS + 1):
                pair = [(SIFAKA, ours), (BARE, bare)]
                for command, taken in pair if number % 2 else reversed(pair):
                    taken.append(_start(command, first, second, home))
        # The first pair compiles what is imported and fills the disk's cache.
        for field, name in {
            "first": f"{era} {first[0]}",
            "listed": f"{era} {second[0]}",
            "processor": f"{era} {second[0]}, processor",
        }.items():
            of_ours, of_bare = ([getattr(s, field) for s in each[1:]] for each in (ours, bare))
            ratios = [a / b for a, b in zip(of_ours, of_bare, strict=True)]
            figures += [
                Figure(what=f"{name}, sifaka", value=median(of_ours) * 1000, unit="ms"),
                Figure(what=f"{name}, bare", value=median(of_bare) * 1000, unit="ms"),
                Figure(what=f"{name}, sifaka / bare", value=median(ratios), unit="x", most=GOAL),
            ]
    return Report(
        title="startup: from spawning the server on stdio to its first answer, and to its tools",
        method=f"{PAIRS} pairs of `python -m sifaka_mcp` and the bare echo server for each era, "
        "after one to warm up, which leaves the bytecode on the disk; which of the two is first "
        "changes from pair to pair. The request is written at once and the answer read as a line, "
        "without an MCP client; then the tools are listed. `processor` is user and system time of "
        "the server until it has listed them. The ratio is the median of the pairs' ratios.",
        figures=tuple(figures),
    )


def _start(command: tuple[str, ...], first: Request, second: Request, home: str) -> Start:
    env = environment(home)
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed server has its bytecode
    started = perf_counter()
    process = subprocess.Popen(
        command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        say(process.stdin, first, number=1)
        hear(process.stdout, 1)
        answered = perf_counter()
        if first[0] == "initialize":
            say(process.stdin, ("notifications/initialized", {}))
        say(process.stdin, second, number=2)
        hear(process.stdout, 2)
        listed = perf_counter()
        process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    return Start(
        first=answered - started,
        listed=listed - started,
        processor=usage.ru_utime + usage.ru_stime,
    )


def say(stream: IO[bytes], request: Request, *, number: int | None = None) -> None:
    method, params = request
    numbered = {} if number is None else {"id": number}
    message = {"jsonrpc": "2.0", **numbered, "method": method, "params": params}
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def hear(stream: IO[bytes], number: int) -> None:
    for line in stream:
        answer = json.loads(line)
        if answer.get("id") == number and "method" not in answer:
            assert "result" in answer, answer
            return
    raise AssertionError("the server has ended")
