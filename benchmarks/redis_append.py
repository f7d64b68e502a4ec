"""The cost of adding an iteration to a run in Redis, and of writing the whole run again."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from types import MappingProxyType

import anyio

from benchmarks.redis_alone import CONNECTIONS
from benchmarks.redis_rounds import (
    FromPython,
    Speed,
    appended_alone,
    appended_from_python,
    by_redis_benchmark,
    load_script,
    rewritten_alone,
    rewritten_from_python,
)
from benchmarks.report import Figure, Report
from benchmarks.samples import prose
from benchmarks.stored_runs import new_run
from tests.stubs.redis_server import redis_server

ITERATIONS = 20
RUNS = 10 * CONNECTIONS
ROUNDS = 3
GOAL = 5
TEXT = prose(1000)[:4000]
"""With the rest of its entry it is 4.6 KB of JSON."""
_REWRITES: Mapping[str, bool] = MappingProxyType({"rewrite": True, "blind rewrite": False})
"""Ways to write the whole run; True for those that notice another writer."""
_KINDS = ("append", *_REWRITES)
_OPTIONS = ("--auto-aof-rewrite-percentage", "0")
"""The log is never compacted, so that what was written can be read off its size."""


def measure() -> Report:
    """Appends against whole documents, by the server alone and from Python."""
    runs = [new_run([TEXT] * ITERATIONS) for _ in range(RUNS)]
    alone: dict[str, list[Speed]] = {kind: [] for kind in _KINDS}
    python: dict[str, list[FromPython]] = {kind: [] for kind in _KINDS}
    native: list[Mapping[str, float]] = []
    for _ in range(ROUNDS):
        # New servers for each round: what was written before does not burden them.
        with redis_server(*_OPTIONS, appendfsync="everysec") as server:
            load_script(server)
            alone["append"].append(anyio.run(appended_alone, server, runs))
            for kind, checked in _REWRITES.items():
                alone[kind].append(rewritten_alone(server, runs, checked=checked))
        with redis_server(*_OPTIONS, appendfsync="everysec") as server:
            load_script(server)
            python["append"].append(anyio.run(appended_from_python, server, runs))
            for kind, checked in _REWRITES.items():
                rewritten = partial(rewritten_from_python, checked=checked)
                python[kind].append(anyio.run(rewritten, server, runs))
        with redis_server(*_OPTIONS, appendfsync="everysec") as server:
            native.append(anyio.run(by_redis_benchmark, server, runs[0]))
    last = {kind: [found.last for found in rounds] for kind, rounds in python.items()}
    logs = {kind: median(found.log for found in rounds) for kind, rounds in python.items()}
    return Report(
        title="redis_append: an iteration of 4.6 KB appended, against all of the run written again",
        method=f"A real server with `appendfsync everysec`; {CONNECTIONS} connections, {RUNS} runs "
        f"of {ITERATIONS} iterations; {ROUNDS} rounds in turn, medians. An append is the store's. "
        "A rewrite writes the run as one JSON document, by a script that refuses a run which "
        "another writer has changed, as an append does; a blind rewrite is a bare SET, which does "
        "not. Server: commands packed before, one on its way on each connection, documents of "
        f"{ITERATIONS} iterations; the processor's time is the server's. Python: one process, "
        f"{CONNECTIONS} tasks over redis-py, `model_dump_json` included; the processor's time is "
        "Python's. The log is the server's append-only file, never compacted. redis-benchmark: "
        "Redis' own program; as it cannot count, its appends begin a run, with two entries."
        + ("" if native[0] else " It is not installed here, so its figures are missing."),
        figures=(
            *_compared("server", alone),
            *_compared(f"Python, iteration {ITERATIONS}", last),
            *(
                _rate(f"Python, all {ITERATIONS}: {kind}", [found.overall for found in rounds])
                for kind, rounds in python.items()
            ),
            *(
                Figure(what=f"log of a run: {kind}", value=logs[kind] / 1024, unit="KB")
                for kind in _KINDS
            ),
            *(
                _rate(f"redis-benchmark: {name}", [found[name] for found in native])
                for name in native[0]
            ),
        ),
    )


def _compared(what: str, speeds: Mapping[str, Sequence[Speed]]) -> list[Figure]:
    figures = [
        figure
        for kind, found in speeds.items()
        for figure in (
            _rate(f"{what}: {kind}", [speed.rate for speed in found]),
            Figure(
                what=f"{what}: {kind}, processor",
                value=median(speed.processor for speed in found) * 1e6,
                unit="us",
            ),
        )
    ]
    for kind, checked in _REWRITES.items():
        pairs = zip(speeds["append"], speeds[kind], strict=True)
        gain = median(append.rate / rewrite.rate for append, rewrite in pairs)
        goal = GOAL if checked else None
        figures.append(Figure(what=f"{what}: append / {kind}", value=gain, unit="x", least=goal))
    return figures


def _rate(what: str, rates: Sequence[float]) -> Figure:
    return Figure(what=what, value=round(median(rates)), unit="/s")
