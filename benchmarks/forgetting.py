"""The time to forget many runs at once, and the forgotten texts that are left in the files."""

import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time

import anyio

from benchmarks.report import Figure, Report
from benchmarks.stored_runs import at_once, new_run
from sifaka.storage.files import FileStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.retention import Policy, carry_out, plan
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.redis_server import redis_server

RUNS = 6_000
FORGOTTEN = 5_000
SAMPLED = 1_000
_WORDS = Path(__file__).parents[1] / "docs" / "storage.md"


def measure() -> Report:
    """`sifaka forget --yes` without its start."""
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_measure, Path(folder))


async def _measure(folder: Path) -> Report:
    figures: list[Figure] = []
    kinds: Mapping[str, Callable[[Path], ThoughtStore]] = {
        "SQLite": lambda path: SQLiteStorage(path / "runs.db"),
        "files": lambda path: FileStorage(path / "runs"),
    }
    for number, (name, make) in enumerate(kinds.items()):
        figures += await _forget(name, make(folder / str(number)), folder / str(number))
    place = folder / "redis"
    place.mkdir()
    with redis_server("--dir", str(place), "--rdbcompression", "no") as server:
        figures += await _forget("Redis", RedisStorage(server.url), place)
    return Report(
        title=f"forgetting: {FORGOTTEN} of {RUNS} runs at once",
        method=f"{RUNS} runs with two versions of some 1.5 KB each; the plan, and carrying it out, "
        f"in one process. Then {SAMPLED} of the forgotten texts are looked for in the raw bytes of "
        "all files while the store is open; Redis has saved its dump then. One disk, loopback.",
        figures=tuple(figures),
    )


async def _forget(name: str, store: ThoughtStore, folder: Path) -> list[Figure]:
    words = _WORDS.read_text(encoding="utf-8").split()
    chance = random.Random(name)  # noqa: S311 - texts, no secrets
    marks: list[str] = []
    for _ in range(RUNS):
        mark = "".join(chance.choices("bcdfghjklmnpqrtvwz", k=12))
        texts = [" ".join((mark, *chance.choices(words, k=220))) for _ in range(2)]
        made = at_once(new_run(texts, prompt="Write about refunds."))
        await store.append(made.run, made.entries, expected_version=0)
        marks.append(mark)
    while await store.catch_up():
        pass
    wall, processor = perf_counter(), process_time()
    planned = await plan(store, Policy(max_runs=RUNS - FORGOTTEN, keep_unfinished=False))
    outcome = await carry_out(store, planned)
    wall, processor = perf_counter() - wall, process_time() - processor
    assert len(outcome.gone) == FORGOTTEN
    if isinstance(store, RedisStorage):
        await store.connections.run(lambda client: client.execute_command("SAVE"))
    held = _content(folder)
    await store.aclose()
    sample = chance.sample(marks[:FORGOTTEN], SAMPLED)
    return [
        Figure(what=f"{name}, wall time", value=wall, unit="s"),
        Figure(what=f"{name}, processor time", value=processor, unit="s"),
        Figure(
            what=f"{name}, forgotten texts left of {SAMPLED}",
            value=sum(mark.encode() in held for mark in sample),
            unit="texts",
        ),
        Figure(
            what=f"{name}, kept texts that are there of {RUNS - FORGOTTEN}",
            value=sum(mark.encode() in held for mark in marks[FORGOTTEN:]),
            unit="texts",
        ),
    ]


def _content(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
