"""The time to read a whole run from each kind of store."""

import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from benchmarks.report import Figure, Report
from benchmarks.samples import percentile
from benchmarks.stored_runs import Append, complete_run
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.storage.files import FileStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import redis_server

ITERATIONS = 20
RUNS = 20
LOADS = 10


def measure() -> Report:
    """`load` of runs that chains have made."""
    with tempfile.TemporaryDirectory() as folder, redis_server() as server:
        return anyio.run(_measure, Path(folder), server.url)


async def _measure(folder: Path, redis_url: str) -> Report:
    stores: Mapping[str, ThoughtStore] = {
        "memory": MemoryStorage(),
        "SQLite": SQLiteStorage(folder / "runs.db"),
        "files": FileStorage(folder / "runs"),
        "Redis": RedisStorage(redis_url),
    }
    taken: dict[str, list[float]] = {name: [] for name in stores}
    runs = [await complete_run(ITERATIONS) for _ in range(RUNS)]
    async with AsyncExitStack() as stack:
        for store in stores.values():
            stack.push_async_callback(store.aclose)
            for run in runs:
                await store.append(run.run, run.entries, expected_version=0)
            await _load(store, runs[0])
        for number in range(LOADS * RUNS):
            for name, store in stores.items():
                taken[name].append(await _load(store, runs[number % RUNS]))
    entries = len(runs[0].entries)
    return Report(
        title=f"history: reading a run of {ITERATIONS} iterations",
        method=f"{RUNS} runs of {ITERATIONS} iterations with texts of 8 KB, {entries} entries "
        "each, made by a chain with two validators and a critic, in every store; each is loaded "
        f"{LOADS} times, the stores in turn, after one load to warm up. Loading decodes every "
        "entry and folds them into the run; in memory the run is kept as it is. "
        "Files and SQLite on the same disk, Redis on loopback.",
        figures=tuple(
            figure
            for name, seconds in taken.items()
            for figure in (
                Figure(what=f"{name}, p50", value=median(seconds) * 1000, unit="ms"),
                Figure(what=f"{name}, p95", value=percentile(seconds, 95) * 1000, unit="ms"),
            )
        ),
    )


async def _load(store: ThoughtStore, stored: Append) -> float:
    """Seconds."""
    started = perf_counter()
    run = await store.load(stored.run.run_id)
    taken = perf_counter() - started
    assert run.version == stored.run.version
    return taken
