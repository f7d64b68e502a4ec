"""A server under 64 runs at a time over HTTP, and its memory afterwards."""

import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.calls import VALIDATE
from benchmarks.critics_wall import provider_at
from benchmarks.report import Figure, Report
from benchmarks.samples import percentile, prose
from benchmarks.servers import SIFAKA, environment, listening, started
from sifaka.chain import Chain
from sifaka.models.provider import Connections
from sifaka.storage import SQLiteStorage

ANSWER = 0.05
AT_ONCE = 64
RUNS = 256
PAUSE = 0.05
"""Seconds between two calls of validate_text meanwhile."""
ROUNDS = 4
"""Answers one after the other: twice a version and its critique."""
SEQUENTIAL = 1_000
MARKS = (200, 600, 1_000)
"""The numbers of calls after which the memory is read."""
TEXT = prose(100)
PROMPT = "Make it clear."
MODEL = "openai-chat:stub"
SETTINGS = {
    "SIFAKA_MODEL": MODEL,
    "SIFAKA_RATE_LIMIT": "100000/second",
    "SIFAKA_MAX_REQUESTS": "1000",
    "SIFAKA_MAX_RUNS": "1000",
}


def measure() -> Report:
    """The same runs through a server and without one, against a provider in a third process."""
    provider = (sys.executable, "-m", "benchmarks.slow_provider", f"{ANSWER}", f"{ANSWER}")
    with (
        tempfile.TemporaryDirectory() as name,
        listening(provider, environment(name)) as url,
        provider_at(url),
    ):
        alone = anyio.run(_alone, Path(name), backend_options={"use_uvloop": True})
        command = (*SIFAKA, "--transport", "http", "--port", "0")
        env = environment(name) | SETTINGS
        with listening(command, env) as ours:
            served, waits = anyio.run(_served, ours, backend_options={"use_uvloop": True})
        # A fresh one, so that what the load has left does not hide what calls leave.
        with started(command, env) as (ours, pid):
            sizes = anyio.run(_sizes, ours, pid)
    ideal = AT_ONCE / (ROUNDS * ANSWER)
    return Report(
        title=f"http_load: {AT_ONCE} runs at once over HTTP, and {SEQUENTIAL:,} calls in a row",
        method=f"Runs of {ROUNDS} answers, each after {ANSWER * 1000:.0f} ms, on a text of 100 "
        f"words, on SQLite; {RUNS} runs, {AT_ONCE} at once, after {AT_ONCE} to warm up. First by "
        "Chain.run in one process, then by improve_text through a server, from one mcp.Client. "
        "Provider, server and client share the cores. The ideal counts nothing but answers. Then "
        f"as many again, while another client calls validate_text every {PAUSE * 1000:.0f} ms. "
        f"Last, on a fresh server, {SEQUENTIAL:,} calls in a row, validate_text and improve_text "
        f"by the editor in turn; resident memory after {', '.join(map(str, MARKS))}.",
        figures=(
            Figure(what="ideal", value=ideal, unit="runs/s"),
            Figure(what="without a server", value=alone, unit="runs/s"),
            Figure(what="through the server", value=served, unit="runs/s"),
            Figure(what="through the server / ideal", value=served / ideal, unit="x"),
            Figure(what="through the server / without", value=served / alone, unit="x", least=0.8),
            Figure(what="validate_text meanwhile p50", value=percentile(waits, 50), unit="ms"),
            Figure(what="validate_text meanwhile p99", value=percentile(waits, 99), unit="ms"),
            *(
                Figure(what=f"memory after {mark:,} calls", value=size, unit="MB")
                for mark, size in zip(MARKS, sizes, strict=True)
            ),
            Figure(
                what=f"memory, {MARKS[-1]:,} / {MARKS[0]:,} calls",
                value=sizes[-1] / sizes[0],
                unit="x",
                most=1.05,
            ),
        ),
    )


async def _alone(folder: Path) -> float:
    """Runs a second, by the library."""
    store = SQLiteStorage(folder / "alone.db")
    async with Connections() as connections:
        chain = Chain(model=MODEL, max_iterations=2, store=store, connections=connections)

        async def run() -> None:
            result = await chain.run(PROMPT, text=TEXT)
            assert result.usage.model_calls == ROUNDS, result.run.error

        await _rate(run, AT_ONCE)
        rate = await _rate(run, RUNS)
    await store.aclose()
    return rate


async def _served(url: str) -> tuple[float, list[float]]:
    """Runs a second, by the server, and the milliseconds of other calls beside as many again."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=AT_ONCE)
    async with (
        httpx2.AsyncClient(timeout=120, limits=limits) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
        Client(url) as other,
    ):

        async def run() -> None:
            arguments = {"text": TEXT, "prompt": PROMPT, "max_iterations": 2}
            result = await client.call_tool("improve_text", arguments)
            out = result.structured_content
            assert out is not None, result.content
            assert out["usage"]["model_calls"] == ROUNDS, out["degraded"]

        await _rate(run, AT_ONCE)
        rate = await _rate(run, RUNS)
        waits: list[float] = []
        async with anyio.create_task_group() as group:
            group.start_soon(_keep_validating, other, waits)
            await _rate(run, RUNS)
            group.cancel_scope.cancel()
    return rate, waits


async def _keep_validating(client: Client, waits: list[float]) -> None:
    while True:
        began = perf_counter()
        await client.call_tool("validate_text", dict(VALIDATE))
        waits.append((perf_counter() - began) * 1000)
        await anyio.sleep(PAUSE)


async def _rate(run: Callable[[], Awaitable[None]], count: int) -> float:
    left = count

    async def work() -> None:
        nonlocal left
        while left:
            left -= 1
            await run()

    began = perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(work)
    return count / (perf_counter() - began)


async def _sizes(url: str, pid: int) -> list[float]:
    """Megabytes of resident memory after so many calls."""
    sizes: list[float] = []
    async with Client(url) as client:
        for number in range(1, SEQUENTIAL + 1):
            if number % 2:
                await client.call_tool("validate_text", dict(VALIDATE))
            else:
                await client.call_tool("improve_text", {"text": TEXT, "model": "editor"})
            if number in MARKS:
                sizes.append(_resident(pid))
    return sizes


def _resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("the system does not tell the resident memory")
