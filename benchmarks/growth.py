"""The bytes that a run leaves behind."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import anyio

from benchmarks.chains import endless_chain
from benchmarks.report import Figure, Report
from benchmarks.samples import version_text
from sifaka.storage import SQLiteStorage

FEW, MANY, MORE = 10, 100, 190


def measure() -> Report:
    """The store's file after runs of different lengths."""
    return anyio.run(_measure)


async def _measure() -> Report:
    (few, few_payload), (many, many_payload), (more, _) = [
        await _stored(count) for count in (FEW, MANY, MORE)
    ]
    step = many - few
    return Report(
        title="growth: bytes that a run leaves in SQLite",
        method=f"Runs of {FEW}, {MANY} and {MORE} iterations with texts of 8 KB, each in a new "
        "file, after its write-ahead log is folded in; the index for search is included. Payload "
        "is the entries' JSON alone. One run of each, for nothing in it is left to chance.",
        figures=(
            Figure(what=f"file after {FEW}", value=few / 1024, unit="KB"),
            Figure(what=f"file after {MANY}", value=many / 1024, unit="KB"),
            Figure(what=f"file, {MANY} / {FEW} iterations", value=many / few, unit="x", most=11),
            Figure(
                what=f"payload, {MANY} / {FEW} iterations",
                value=many_payload / few_payload,
                unit="x",
                most=11,
            ),
            Figure(
                what=f"file, {MANY} to {MORE} / {FEW} to {MANY}",
                value=(more - many) / step,
                unit="x",
                most=1.1,
            ),
            Figure(what="payload of an iteration", value=many_payload / MANY / 1024, unit="KB"),
            Figure(what="file, an iteration more", value=step / (MANY - FEW) / 1024, unit="KB"),
        ),
    )


async def _stored(iterations: int) -> tuple[int, int]:
    """Bytes of the file and of the entries in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        store = SQLiteStorage(path)
        result = await endless_chain(store, iterations).run(text=version_text(0))
        while await store.catch_up():
            pass
        await store.aclose()
        assert result.run.iterations == iterations, "the run ended early"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (payload,) = connection.execute(
                "SELECT sum(length(CAST(payload AS BLOB))) FROM entries"
            ).fetchone()
        return path.stat().st_size, payload
