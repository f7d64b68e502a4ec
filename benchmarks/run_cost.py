"""The processor time of a run over HTTP and Redis, beside bare PydanticAI calls."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from redis.asyncio import Redis

from benchmarks.bare_calls import bare_run
from benchmarks.critics_wall import provider_at
from benchmarks.http_load import MODEL, PROMPT, SETTINGS, TEXT
from benchmarks.http_load import ROUNDS as CALLS
from benchmarks.redis_monitor import delays_of_answers
from benchmarks.report import Figure, Report
from benchmarks.samples import percentile
from benchmarks.servers import environment, listening, started
from benchmarks.slow_provider import in_letters
from benchmarks.stored_runs import copied, entries_of
from sifaka.storage import RedisStorage
from tests.stubs.redis_server import redis_server

ANSWER = 0.05

MOST = 9
"""Milliseconds of processor time for each call of a run."""
AT_ONCE = {1: 12, 64: 192, 256: 512}
"""Runs in all, by how many are under way at the same time."""
ROUNDS = 3
"""Ours and the bare calls, in turn."""
MANY = 10_000
WAIT = 300
"""Seconds, more than a run takes on a busy machine."""


def measure() -> Report:
    """Runs by a server, and the same questions by PydanticAI alone."""
    provider = (sys.executable, "-m", "benchmarks.slow_provider", f"{ANSWER}", f"{ANSWER}")
    with (
        tempfile.TemporaryDirectory() as name,
        redis_server(appendfsync="everysec") as redis,
        listening(provider, environment(name)) as url,
        provider_at(url),
    ):
        profile = Path(name) / "profile.json"
        arguments = (str(profile), "--transport", "http", "--port", "0")
        command = (sys.executable, "-m", "benchmarks.sampled_server", *arguments)
        env = environment(name) | SETTINGS | {"SIFAKA_STORE": redis.url}
        with started(command, env) as (ours, pid):
            figures = anyio.run(
                _measure, ours, pid, redis.url, profile, backend_options={"use_uvloop": True}
            )
    return Report(
        title=f"run_cost: a run of {CALLS} calls over HTTP and Redis, and the same calls alone",
        method=f"improve_text on a text of 100 words: {CALLS} calls one after the other, each "
        f"answered after {ANSWER * 1000:.0f} ms by a provider in another process, twice a "
        "version and its critique. Processor time is user and system time of the server "
        "and its children. The bare calls are those of PydanticAI's Agent with OpenAI's client, "
        "with the same questions and forms, each answer appended to a stream in the same Redis; "
        f"their processor time is that of this process. {ROUNDS} rounds of both in turn after one "
        "of 64 to warm up; medians. The share of a component is that of the ticks of the server's "
        "processor clock in which its code was the innermost, times the processor time of the "
        "event loop's thread. When an answer is sent its provider says, and when it is on record "
        f"Redis, in one more round of {AT_ONCE[64]} runs. Then {MANY:,} runs of the same kind are "
        "put into the store.",
        figures=tuple(figures),
    )


async def _measure(url: str, pid: int, redis: str, profile: Path) -> list[Figure]:
    costs: dict[int, list[tuple[float, float]]] = {count: [] for count in AT_ONCE}
    bares: dict[int, list[tuple[float, float]]] = {count: [] for count in AT_ONCE}
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=max(AT_ONCE))
    async with (
        httpx2.AsyncClient(timeout=300, limits=limits) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
        bare_run(MODEL.partition(":")[2], TEXT, PROMPT, redis) as bare,
    ):
        ids: list[str] = []
        numbers = count(1000)

        async def run() -> None:
            # No two texts are the same: what is kept of one run would flatter the next.
            text = f"{TEXT}\n\nThis is for reader {in_letters(next(numbers))}."
            arguments = {"text": text, "prompt": PROMPT, "max_iterations": 2, "wait_seconds": WAIT}
            result = await client.call_tool("improve_text", arguments)
            out = result.structured_content
            assert out is not None, result.content
            assert out["usage"]["model_calls"] == CALLS, out["degraded"]
            ids[:] = [out["run_id"]]

        await _rate(run, 64, 64)
        await _rate(bare, 64, 64)
        shares: dict[str, float] = {}
        for _ in range(ROUNDS):
            for at_once, runs in AT_ONCE.items():
                if at_once == 64:
                    os.kill(pid, signal.SIGUSR1)
                costs[at_once].append(await _cost(run, runs, at_once, lambda: _spent(pid)))
                if at_once == 64:
                    for name, seconds in _read_profile(pid, profile).items():
                        shares[name] = shares.get(name, 0.0) + seconds / runs / ROUNDS
                bares[at_once].append(await _cost(bare, runs, at_once, process_time))
        with delays_of_answers(redis) as delays:
            await _rate(run, AT_ONCE[64], 64)
            waited = delays()
        early = [await _cost(run, AT_ONCE[64], 64, lambda: _spent(pid)) for _ in range(ROUNDS)]
        store = RedisStorage(redis)
        entries = await entries_of(store, await store.load(ids[0]))
        for _ in range(MANY):
            copy = copied(entries)
            await store.append(copy.run, copy.entries, expected_version=0)
        await store.aclose()
        await _quiet(redis)
        late = [await _cost(run, AT_ONCE[64], 64, lambda: _spent(pid)) for _ in range(ROUNDS)]
    return [
        *_figures(costs, bares),
        *_delays(waited),
        *_flat(costs, early, late),
        *_components(shares),
    ]


async def _quiet(url: str) -> None:
    """Return when Redis writes no file of its own any more, which takes one of the processors."""
    async with Redis.from_url(url) as redis:  # pyright: ignore[reportUnknownMemberType]
        with anyio.fail_after(WAIT):
            info = redis.info  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
            while (await info("persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110 - no event tells
                await anyio.sleep(0.1)


async def _cost(
    run: Callable[[], Awaitable[None]], runs: int, at_once: int, spent: Callable[[], float]
) -> tuple[float, float]:
    """Seconds of processor time a run, and runs a second."""
    before = spent()
    rate = await _rate(run, runs, at_once)
    return (spent() - before) / runs, rate


async def _rate(run: Callable[[], Awaitable[None]], count: int, at_once: int) -> float:
    left = count

    async def work() -> None:
        nonlocal left
        while left:
            left -= 1
            await run()

    began = perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(work)
    return count / (perf_counter() - began)


def _spent(pid: int) -> float:
    """Seconds of processor time of a process and its children."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if path.parent.name == str(pid) or fields[1] == str(pid):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _read_profile(pid: int, path: Path) -> Mapping[str, float]:
    """Seconds of processor time by component, since the profile was begun."""
    os.kill(pid, signal.SIGUSR2)
    deadline = perf_counter() + 10
    while not path.exists():
        assert perf_counter() < deadline, "the server has written no profile"
        sleep(0.01)
    shares: Mapping[str, float] = json.loads(path.read_text(encoding="utf-8"))
    path.unlink()
    return shares


_Costs = Mapping[int, list[tuple[float, float]]]


def _figures(costs: _Costs, bares: _Costs) -> list[Figure]:
    figures: list[Figure] = []
    for at_once, ours in costs.items():
        bare = bares[at_once]
        here = f"{at_once} at once"
        cost, rate = (median(values) for values in zip(*ours, strict=True))
        bare_cost, bare_rate = (median(values) for values in zip(*bare, strict=True))
        share = median(our[1] / other[1] for our, other in zip(ours, bare, strict=True))
        figures += [
            Figure(
                what=f"{here}: processor time of a run",
                value=cost * 1000,
                unit="ms",
                most=MOST * CALLS if at_once == 64 else None,
            ),
            Figure(what=f"{here}: of the bare calls", value=bare_cost * 1000, unit="ms"),
            Figure(what=f"{here}: runs a second", value=rate, unit="/s"),
            Figure(what=f"{here}: by the bare calls", value=bare_rate, unit="/s"),
            Figure(
                what=f"{here}: throughput, against the bare calls",
                value=share,
                unit="x",
                least=0.8 if at_once == 64 else None,
            ),
        ]
    return figures


def _delays(waited: list[float]) -> list[Figure]:
    return [
        Figure(
            what=f"64 at once: an answer is on record after it was sent, p{share}",
            value=percentile(waited, share) * 1000,
            unit="ms",
            most=most,
        )
        for share, most in ((50, None), (99, 100.0))
    ]


def _flat(
    costs: _Costs, early: list[tuple[float, float]], late: list[tuple[float, float]]
) -> list[Figure]:
    by_count = [median(cost for cost, _ in each) for each in costs.values()]
    before, after = (median(cost for cost, _ in each) for each in (early, late))
    return [
        Figure(
            what="the dearest run / the cheapest, 1 to 256 at once",
            value=max(by_count) / min(by_count),
            unit="x",
        ),
        Figure(
            what=f"a run after {MANY:,} runs / before, 64 at once",
            value=after / before,
            unit="x",
            most=1.1,
        ),
    ]


def _components(shares: Mapping[str, float]) -> list[Figure]:
    ranked = sorted(shares.items(), key=lambda share: -share[1])
    return [
        Figure(what=f"64 at once, of a run: {name}", value=seconds * 1000, unit="ms")
        for name, seconds in ranked
    ]
