"""The start-up time of a new server, against a server of the bare SDK."""

import json
import subprocess
import tempfile
from collections.abc import Mapping
from statistics import median
from time import perf_counter
from types import MappingProxyType
from typing import Any

from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from benchmarks.report import Figure, Report
from benchmarks.servers import BARE, ROOT, SIFAKA, environment

PAIRS = 11
GOAL = 1.3
_CLIENT = {"name": "benchmark", "version": "1"}
_META = "io.modelcontextprotocol"
FIRST_REQUESTS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        f"{LATEST_HANDSHAKE_VERSION} initialize": {
            "method": "initialize",
            "params": {
                "protocolVersion": LATEST_HANDSHAKE_VERSION,
                "capabilities": {},
                "clientInfo": _CLIENT,
            },
        },
        f"{LATEST_MODERN_VERSION} server/discover": {
            "method": "server/discover",
            "params": {
                "_meta": {
                    f"{_META}/protocolVersion": LATEST_MODERN_VERSION,
                    f"{_META}/clientInfo": _CLIENT,
                    f"{_META}/clientCapabilities": {},
                }
            },
        },
    }
)
"""The first message of a client of each era."""


def measure() -> Report:
    """From spawning a server to its first answer."""
    figures: list[Figure] = []
    for name, request in FIRST_REQUESTS.items():
        line = json.dumps({"jsonrpc": "2.0", "id": 1, **request}).encode() + b"\n"
        ours: list[float] = []
        bare: list[float] = []
        with tempfile.TemporaryDirectory() as home:
            for number in range(PAIRS + 1):
                pair = [(SIFAKA, ours), (BARE, bare)]
                for command, taken in pair if number % 2 else reversed(pair):
                    taken.append(_seconds_to_answer(command, line, home))
        # The first pair compiles what is imported and fills the disk's cache.
        ratios = [a / b for a, b in zip(ours[1:], bare[1:], strict=True)]
        figures += [
            Figure(what=f"{name}, sifaka", value=median(ours[1:]) * 1000, unit="ms"),
            Figure(what=f"{name}, bare", value=median(bare[1:]) * 1000, unit="ms"),
            Figure(what=f"{name}, sifaka / bare", value=median(ratios), unit="x", most=GOAL),
        ]
    return Report(
        title="startup: from spawning the server on stdio to its first answer",
        method=f"{PAIRS} pairs of `python -m sifaka_mcp` and the bare echo server for each era, "
        "after one to warm up; which of the two is first changes from pair to pair. The request is "
        "written at once and the answer read as a line, without an MCP client. The ratio is the "
        "median of the pairs' ratios.",
        figures=tuple(figures),
    )


def _seconds_to_answer(command: tuple[str, ...], request: bytes, home: str) -> float:
    started = perf_counter()
    with subprocess.Popen(
        command, env=environment(home), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request)
        process.stdin.flush()
        answer = process.stdout.readline()
        taken = perf_counter() - started
        process.kill()
    assert "result" in json.loads(answer), answer
    return taken
