"""The time from starting a process to its first request to a provider."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import NamedTuple

from mcp_types.version import LATEST_HANDSHAKE_VERSION

from benchmarks.report import Figure, Report
from benchmarks.samples import prose
from benchmarks.servers import ROOT, SIFAKA, environment
from benchmarks.startup import REQUESTS, hear, say

SAMPLES = 7
PAUSE = 4.0
"""Seconds in which a person types the first request."""
PATIENCE = 60.0
TEXT = prose(300)
TASK = "Make it clear."
_CALL = ("tools/call", {"name": "improve_text", "arguments": {"text": TEXT, "prompt": TASK}})


class _First(NamedTuple):
    """The first request of a process."""

    sent: float
    """Seconds until its first bytes were there."""
    processor: float
    """Seconds of the processor until then."""


def measure() -> Report:
    """From spawning to the first bytes of a request, through the server and the command."""
    at_once: list[_First] = []
    later: list[_First] = []
    command: list[_First] = []
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "text.md"
        file.write_text(TEXT, encoding="utf-8")
        for _ in range(1 + SAMPLES):
            at_once.append(_of_server(home, pause=0.0))
            later.append(_of_server(home, pause=PAUSE))
            command.append(_of_command(home, file))
    figures: list[Figure] = []
    for what, found in {
        "server, called at once": at_once,
        f"server, called after {PAUSE:g} s": later,
        "command": command,
    }.items():
        sent, processor = zip(*found[1:], strict=True)
        figures += [
            Figure(what=f"{what}: first request", value=median(sent) * 1000, unit="ms"),
            Figure(what=f"{what}: processor", value=median(processor) * 1000, unit="ms"),
        ]
    return Report(
        title="first_call: from starting a process to its first request to a provider",
        method="`python -m sifaka_mcp` on stdio with a provider of OpenAI's protocol on loopback: "
        "`initialize`, `tools/list`, and `improve_text` on 300 words with a task. Time from "
        "spawning to the first bytes of a request at the provider; with a pause, from the call. "
        "Then `sifaka improve` on the same text. `processor` is user and system time of the "
        f"process until then, its children not counted. Median of {SAMPLES} after one to warm up, "
        "in turn, with bytecode on the disk.",
        figures=tuple(figures),
    )


def _environment(home: str, provider: socket.socket) -> Mapping[str, str]:
    env = environment(home)
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed server has its bytecode
    url = f"http://127.0.0.1:{provider.getsockname()[1]}/v1"
    return env | {
        "SIFAKA_MODEL": "openai-chat:stub",
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none",
    }


def _of_server(home: str, *, pause: float) -> _First:
    with socket.create_server(("127.0.0.1", 0)) as provider:
        started = perf_counter()
        process = subprocess.Popen(
            SIFAKA, env=_environment(home, provider), cwd=ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin, process.stdout:
            first, second = REQUESTS[LATEST_HANDSHAKE_VERSION]
            say(process.stdin, first, number=1)
            hear(process.stdout, 1)
            say(process.stdin, ("notifications/initialized", {}))
            say(process.stdin, second, number=2)
            hear(process.stdout, 2)
            if pause:
                sleep(pause)
                started = perf_counter()
            say(process.stdin, _CALL, number=3)
            return _first(provider, process, started)


def _of_command(home: str, file: Path) -> _First:
    with socket.create_server(("127.0.0.1", 0)) as provider:
        started = perf_counter()
        command = (sys.executable, "-m", "sifaka_mcp.cli", "improve", str(file), "--prompt", TASK)
        process = subprocess.Popen(
            command, env=_environment(home, provider), cwd=ROOT,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return _first(provider, process, started)


def _first(provider: socket.socket, process: subprocess.Popen[bytes], started: float) -> _First:
    """Wait for the first request, and end the process."""
    provider.settimeout(PATIENCE)
    connection, _ = provider.accept()
    with connection:
        connection.settimeout(PATIENCE)
        assert connection.recv(1), "the process has ended"
        sent = perf_counter() - started
        process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    with suppress(OSError):
        provider.close()
    return _First(sent, usage.ru_utime + usage.ru_stime)
