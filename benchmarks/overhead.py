"""The cost of an iteration besides the model and the critic."""

import sqlite3
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from benchmarks.chains import endless_chain
from benchmarks.report import Figure, Report
from benchmarks.samples import percentile, version_text
from sifaka.record.entries import Decided
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.storage.protocol import ThoughtStore

ITERATIONS = 250
ROUNDS = 3
EDGE = 50


def measure() -> Report:
    """An iteration on SQLite, from one `decided` entry to the next."""
    return anyio.run(_measure)


async def _measure() -> Report:
    stores: dict[str, Callable[[Path], ThoughtStore]] = {
        "SQLite": lambda folder: SQLiteStorage(folder / "runs.db"),
        "memory": lambda _: MemoryStorage(),
    }
    runs: dict[str, list[list[float]]] = {name: [] for name in stores}
    syncs: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await _iterations(MemoryStorage(), 20)
        for number in range(ROUNDS):
            for kind, make in stores.items():
                (place := folder / f"{number}").mkdir(exist_ok=True)
                runs[kind].append(await _iterations(make(place), ITERATIONS))
            syncs += _synced_writes(folder / "bare.db", ITERATIONS)
    on_disk = [seconds for run in runs["SQLite"] for seconds in run]
    in_memory = [seconds for run in runs["memory"] for seconds in run]
    first = median(seconds for run in runs["SQLite"] for seconds in run[:EDGE])
    last = median(seconds for run in runs["SQLite"] for seconds in run[-EDGE:])
    ms = 1000
    return Report(
        title="overhead: an iteration of the loop with a model and a critic that take no time",
        method=f"{ROUNDS} runs of {ITERATIONS} iterations on SQLite (a file, every append synced) "
        f"and {ROUNDS} in memory, in turn; texts of 8 KB, all different and each a little "
        "better, policy `best`; validators length and content, one critic. Time from one "
        "`decided` entry to the next, 3 appends. For the disk's share: the time of 3 bare SQLite "
        "commits of the same size in the same folder.",
        figures=(
            Figure(what="SQLite p50", value=median(on_disk) * ms, unit="ms", most=5),
            Figure(what="SQLite p95", value=percentile(on_disk, 95) * ms, unit="ms", most=20),
            Figure(what=f"SQLite p50 of the first {EDGE}", value=first * ms, unit="ms"),
            Figure(what=f"SQLite p50 of the last {EDGE}", value=last * ms, unit="ms"),
            Figure(what="last / first", value=last / first, unit="x", most=1.2),
            Figure(what="memory p50", value=median(in_memory) * ms, unit="ms"),
            Figure(what="memory p95", value=percentile(in_memory, 95) * ms, unit="ms"),
            Figure(what="3 bare SQLite commits p50", value=median(syncs) * ms, unit="ms"),
            Figure(
                what="SQLite p50 less the bare commits",
                value=(median(on_disk) - median(syncs)) * ms,
                unit="ms",
            ),
            Figure(what="3 bare SQLite commits p95", value=percentile(syncs, 95) * ms, unit="ms"),
        ),
    )


async def _iterations(store: ThoughtStore, count: int) -> list[float]:
    """Seconds of each iteration of one run."""
    events = endless_chain(store, count).stream(text=version_text(0))
    marks = [perf_counter() async for event in events if isinstance(event.entry, Decided)]
    assert len(marks) == count + 1, "the run ended early"
    await store.aclose()
    return [later - earlier for earlier, later in pairwise(marks)]


def _synced_writes(path: Path, count: int) -> list[float]:
    """Seconds of three commits of the sizes of an iteration's entries, by SQLite alone."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS entries (payload TEXT)")
    taken: list[float] = []
    for _ in range(count):
        started = perf_counter()
        for size in (9000, 1000, 1300):
            connection.execute("INSERT INTO entries VALUES (?)", ("x" * size,))
        taken.append(perf_counter() - started)
    connection.close()
    return taken
