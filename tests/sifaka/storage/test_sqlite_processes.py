import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sifaka.storage.sqlite import SQLiteStorage

pytestmark = pytest.mark.anyio
Sql = Callable[..., list[tuple[Any, ...]]]
HERE = Path(__file__).parent


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    acknowledged: dict[str, int] = {}
    for number in range(4):
        with start("append_until_killed.py", str(path), f"run_{number}") as process:
            assert process.stdout
            lines = [process.stdout.readline() for _ in range(25 + 20 * number)]
            process.kill()
            # What it said before it died counts as well; a line that is cut off does not.
            lines += [line for line in process.stdout if line.endswith("\n")]
        acknowledged[f"run_{number}"] = int(lines[-1])

    store = SQLiteStorage(path)
    for run_id, version in acknowledged.items():
        run = await store.load(run_id)
        assert run.version in {version, version + 1}
        assert [thought.text for thought in run.thoughts] == [
            f"text {n} " * 400 for n in range(1, run.version)
        ]
        # The index was written with the entry or not at all.
        hits = (await store.search(str(run.version - 1), limit=500)).hits
        assert run.thoughts[-1].id in {hit.thought_id for hit in hits}
    await store.aclose()
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    assert sql(path, "PRAGMA foreign_key_check") == []
    sql(path, "INSERT INTO version_search (version_search, rank) VALUES ('integrity-check', 1)")


async def test_four_processes_share_a_fresh_file_and_a_run(tmp_path: Path) -> None:
    path, names, count = tmp_path / "new" / "runs.db", "abcd", 15
    processes = [start("append_together.py", str(path), name, str(count)) for name in names]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0, 0, 0]

    store = SQLiteStorage(path)
    for name in names:
        own = await store.load(f"run_{name}")
        assert [thought.text for thought in own.thoughts] == [f"{name}:{n}" for n in range(count)]
    shared = [thought.text for thought in (await store.load("run_shared")).thoughts]
    for name in names:
        mine = [text for text in shared if text.startswith(name)]
        assert mine == [f"{name}:{n}" for n in range(count)]
    assert len(shared) == len(names) * count
    await store.aclose()
