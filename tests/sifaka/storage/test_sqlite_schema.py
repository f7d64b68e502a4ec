import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import anyio
import apsw
import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import RUNS, SqlConnection
from sifaka.storage.sqlite.search import catch_up_words, count_without_words

pytestmark = pytest.mark.anyio
Sql = Callable[..., list[tuple[Any, ...]]]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def keep(store: ThoughtStore, text: str) -> Run:
    started = Started(prompt="Describe an animal.")
    entries = [started, Drafted(thought=Thought(run_id=started.run_id, text=text))]
    run = Run.replay(entries)
    await store.append(run, entries, expected_version=0)
    return run


async def older_file(path: Path, sql: Sql, *texts: str) -> list[Run]:
    """A file with the number of an older form, and a run for each text."""
    store = SQLiteStorage(path)
    runs = [await keep(store, text) for text in texts]
    await store.aclose()
    sql(path, "PRAGMA user_version = 3")
    return runs


async def test_a_file_of_an_older_form_is_set_aside_and_named(
    tmp_path: Path, sql: Sql, caplog: pytest.LogCaptureFixture
) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "runs.db.schema-3"
    (old,) = await older_file(path, sql, "A zebra.")
    store = SQLiteStorage(path)

    assert (await store.recent(limit=5)).runs == ()
    new = await keep(store, "A lion.")
    assert await store.load(new.run_id) == new

    await store.aclose()
    assert names(tmp_path) == ["runs.db", "runs.db.schema-3"]
    assert [repr(str(aside)) in record.getMessage() for record in caplog.records] == [True]
    assert sql(aside, "SELECT run_id FROM runs") == [(old.run_id,)]
    assert sql(aside, "PRAGMA user_version") == [(3,)]
    assert sql(path, "PRAGMA user_version") == [(RUNS.number,)]


async def test_a_second_file_of_an_older_form_does_not_take_the_place_of_the_first(
    tmp_path: Path, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "runs.db.schema-3"
    aside.write_bytes(b"kept")
    (old,) = await older_file(path, sql, "A zebra.")
    monkeypatch.setattr("sifaka.storage.sqlite.file.BUSY_SECONDS", 0.05)
    store = SQLiteStorage(path)

    with pytest.raises(StorageError, match=r"runs\.db\.schema-3"):
        await store.recent(limit=1)

    await store.aclose()
    assert aside.read_bytes() == b"kept"
    assert sql(path, "SELECT run_id FROM runs") == [(old.run_id,)]


async def test_a_file_that_was_being_set_aside_when_a_process_was_killed_is_set_aside(
    tmp_path: Path, sql: Sql
) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "runs.db.schema-3"
    (old,) = await older_file(path, sql, "A zebra.")
    aside.hardlink_to(path)
    store = SQLiteStorage(path)

    assert (await store.recent(limit=1)).runs == ()

    await store.aclose()
    assert sql(aside, "SELECT run_id FROM runs") == [(old.run_id,)]


async def test_a_file_of_an_older_form_that_another_process_has_open_stays(
    tmp_path: Path, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    await older_file(path, sql, "A zebra.")
    open_elsewhere = apsw.Connection(str(path))
    cast("SqlConnection", open_elsewhere).execute("SELECT count(*) FROM runs").fetchall()
    monkeypatch.setattr("sifaka.storage.sqlite.file.BUSY_SECONDS", 0.05)
    store = SQLiteStorage(path)

    with pytest.raises(StorageError, match="locked by another process"):
        await store.recent(limit=1)

    await store.aclose()
    open_elsewhere.close()
    assert "runs.db.schema-3" not in names(tmp_path)


async def test_a_file_of_a_newer_release_is_refused_untouched(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    await older_file(path, sql, "text")
    newer = RUNS.number + 1
    sql(path, f"PRAGMA user_version = {newer}")
    before = path.read_bytes()
    store = SQLiteStorage(path)

    with pytest.raises(ConfigurationError, match=f"schema {newer}.*upgrade Sifaka") as caught:
        await store.recent(limit=1)

    assert repr(str(path)) in str(caught.value)
    assert "\n" not in str(caught.value)
    await store.aclose()
    assert path.read_bytes() == before


@pytest.mark.parametrize("mark", ["CREATE TABLE bookmarks (url)", "PRAGMA application_id = 7"])
async def test_another_programs_database_is_refused_untouched(
    tmp_path: Path, sql: Sql, mark: str
) -> None:
    path = tmp_path / "bookmarks.db"
    sql(path, mark)
    before = path.read_bytes()
    store = SQLiteStorage(path)

    with pytest.raises(ConfigurationError, match="another program"):
        await store.recent(limit=1)

    await store.aclose()
    assert path.read_bytes() == before
    assert names(tmp_path) == ["bookmarks.db"]


async def test_a_file_that_a_newer_release_upgrades_meanwhile_is_not_written_any_more(
    tmp_path: Path, sql: Sql
) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    started = Started()
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    newer = RUNS.number + 1
    sql(path, f"PRAGMA user_version = {newer}")
    entry = Drafted(thought=Thought(run_id=run.run_id, text="x"))

    for _ in range(2):
        with pytest.raises(ConfigurationError, match=f"schema {newer}.*upgrade Sifaka"):
            await store.append(run.apply(entry), [entry], expected_version=1)

    await store.aclose()
    assert sql(path, "SELECT count(*) FROM entries") == [(1,)]


@pytest.mark.slow
def test_several_processes_set_a_file_aside_once(tmp_path: Path, sql: Sql) -> None:
    paths = [tmp_path / f"{number}.db" for number in range(12)]
    for path in paths:
        anyio.run(older_file, path, sql, *(f"A zebra, number {n}." for n in range(20)))
    script = Path(__file__).parent / "count_runs.py"
    processes = [
        subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    pipes = [(process.stdin, process.stdout) for process in processes]

    for path in paths:
        for told, _ in pipes:
            assert told
            told.write(f"{path}\n")
            told.flush()
        assert [said and said.readline() for _, said in pipes] == ["0\n"] * 4
        assert sql(Path(f"{path}.schema-3"), "SELECT count(*) FROM runs") == [(20,)]
        assert sql(path, "SELECT count(*) FROM runs") == [(0,)]
    for process in processes:
        process.communicate(timeout=60)


async def test_versions_that_are_not_indexed_yet_are_told_of_and_lost_by_nothing(
    tmp_path: Path, sql: Sql
) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    older, newer = [await keep(store, text) for text in ("A zebra.", "Zebras.")]
    connection = cast("SqlConnection", apsw.Connection(str(path)))

    assert catch_up_words(connection, seconds=-1) == 2
    assert count_without_words(connection, "default") == 2
    assert count_without_words(connection, "another") == 0
    # What is deleted meanwhile is not indexed afterwards.
    await store.delete(older.run_id)
    assert catch_up_words(connection, seconds=-1) == 1
    assert await store.catch_up() == 0
    assert [hit.run_id for hit in (await store.search("zebra", limit=5)).hits] == [newer.run_id]
    await store.aclose()
