"""A SQLite file is opened, or refused: by its place, its permissions, its locks and its form."""

import os
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import cast

import anyio
import apsw
import pytest

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite import file as sqlite_file
from sifaka.storage.sqlite.connection import RUNS, SqlConnection
from sifaka.storage.sqlite.search import catch_up_words, count_without_words
from tests.sifaka.storage.processes import start
from tests.stubs.runs import found, keep, listed, names, sql

pytestmark = pytest.mark.anyio

ORDINARY_USER = 65534


@pytest.fixture
def ordinary_folder() -> Generator[Path]:
    """A folder of a user for whom permissions count, which they do not for root."""
    with tempfile.TemporaryDirectory() as name:
        as_root = os.geteuid() == 0
        if as_root:
            os.chown(name, ORDINARY_USER, ORDINARY_USER)
            os.seteuid(ORDINARY_USER)
        yield Path(name)
        if as_root:
            os.seteuid(0)


def delete_files(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def lock(path: Path, kind: str) -> apsw.Connection:
    """Another program in the middle of a transaction."""
    connection = apsw.Connection(str(path))
    cast("SqlConnection", connection).execute(f"BEGIN {kind}")
    return connection


def allow(path: Path, mode: int) -> None:
    path.chmod(mode)


async def refused(path: Path, error: type[SifakaError] = StorageError) -> str:
    """The error for the owner of a store at a path."""
    store = SQLiteStorage(path)
    with pytest.raises(error) as caught:
        await store.recent(limit=1)
    await store.aclose()
    text = str(caught.value)
    assert repr(str(path)) in text
    assert caught.value.suggestion
    assert "\n" not in text
    return text


async def test_file_and_folder_are_private(tmp_path: Path) -> None:
    path = tmp_path / "sifaka" / "runs.db"
    previous = os.umask(0)
    try:
        store = SQLiteStorage(path)
        await keep(store)
    finally:
        os.umask(previous)

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(path.parent)}
    assert files == dict.fromkeys(("runs.db", "runs.db-wal", "runs.db-shm"), 0o600)
    await store.aclose()
    assert names(path.parent) == ["runs.db"]


async def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    sql, _ = sqlite_file.open_file(tmp_path / "runs.db", RUNS)
    settings = [
        sql.execute(f"PRAGMA {name}").get
        for name in ("journal_mode", "synchronous", "fullfsync", "foreign_keys", "busy_timeout")
    ]
    sql.close()
    assert settings == ["wal", 2, 1, 1, 5000]


async def test_many_may_open_a_fresh_file_at_the_same_moment(tmp_path: Path) -> None:
    for attempt in range(10):
        stores = [SQLiteStorage(tmp_path / f"{attempt}.db") for _ in range(8)]
        async with anyio.create_task_group() as group:
            for store in stores:
                group.start_soon(keep, store)
        for store in stores:
            assert len((await store.recent(limit=9)).runs) == 8
            await store.aclose()


async def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 500)
    assert "not a SQLite database" in await refused(path, ConfigurationError)
    assert path.read_text() == "These are my notes. " * 500


async def test_a_folder_or_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    await refused(tmp_path)
    (tmp_path / "file").touch()
    await refused(tmp_path / "file" / "runs.db")


async def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await keep(store)
    await store.aclose()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    assert "damaged" in await refused(path)


@pytest.mark.parametrize(("name", "mode"), [("", 0o500), ("runs.db", 0o400), ("runs.db", 0o000)])
async def test_a_store_that_must_not_be_written_or_read_is_named(
    ordinary_folder: Path, name: str, mode: int
) -> None:
    path = ordinary_folder / "runs.db"
    store = SQLiteStorage(path)
    await keep(store)
    await store.aclose()
    allow(ordinary_folder / name, mode)
    await refused(path)


async def test_a_lock_that_stays_is_reported_as_worth_a_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await keep(store)
    other = lock(path, "IMMEDIATE")

    with pytest.raises(StorageError, match="locked by another process") as caught:
        await keep(store)
    assert caught.value.retryable
    # Reading goes on beside a writer, and the store is as good as before when it is gone.
    assert len((await store.recent(limit=5)).runs) == 1
    other.close()
    await keep(store)
    assert len((await store.recent(limit=5)).runs) == 2
    await store.aclose()


def test_opening_tries_again_where_sqlite_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    writer = lock(path, "IMMEDIATE")
    pauses: list[float] = []

    def writer_ends_meanwhile(seconds: float) -> None:
        pauses.append(seconds)
        writer.close()

    monkeypatch.setattr(sqlite_file.time, "sleep", writer_ends_meanwhile)
    sql, _ = sqlite_file.open_file(path, RUNS)

    assert len(pauses) == 1
    assert sql.execute("PRAGMA journal_mode").get == "wal"
    sql.close()


async def test_a_store_whose_file_was_deleted_goes_on_in_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await keep(store)
    delete_files(tmp_path)

    run = await keep(store)

    # Another process finds it, now and after the first one has closed.
    for _ in range(2):
        other = SQLiteStorage(path)
        assert await listed(other) == [run.run_id]
        await other.aclose()
        await store.aclose()


async def test_closing_after_the_file_was_replaced_leaves_the_new_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    old = SQLiteStorage(path)
    await keep(old)
    delete_files(tmp_path)
    new = SQLiteStorage(path)
    run = await keep(new)
    await old.aclose()
    assert (tmp_path / "runs.db-wal").exists()
    assert await new.load(run.run_id) == run
    await new.aclose()


async def older_file(path: Path, *texts: str) -> list[Run]:
    """A file with the number of an older form, and a run for each text."""
    store = SQLiteStorage(path)
    runs = [await keep(store, text) for text in texts]
    await store.aclose()
    sql(path, "PRAGMA user_version = 3")
    return runs


async def test_a_file_of_an_older_form_is_set_aside_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "runs.db.schema-3"
    (old,) = await older_file(path, "A zebra.")
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "runs.db.schema-3"
    aside.write_bytes(b"kept")
    (old,) = await older_file(path, "A zebra.")
    monkeypatch.setattr("sifaka.storage.sqlite.file.BUSY_SECONDS", 0.05)
    store = SQLiteStorage(path)
    with pytest.raises(StorageError, match=r"runs\.db\.schema-3"):
        await store.recent(limit=1)
    await store.aclose()
    assert aside.read_bytes() == b"kept"
    assert sql(path, "SELECT run_id FROM runs") == [(old.run_id,)]


async def test_a_file_that_was_being_set_aside_when_a_process_was_killed_is_set_aside(
    tmp_path: Path,
) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "runs.db.schema-3"
    (old,) = await older_file(path, "A zebra.")
    aside.hardlink_to(path)
    store = SQLiteStorage(path)
    assert (await store.recent(limit=1)).runs == ()
    await store.aclose()
    assert sql(aside, "SELECT run_id FROM runs") == [(old.run_id,)]


async def test_a_file_of_an_older_form_that_another_process_has_open_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    await older_file(path, "A zebra.")
    open_elsewhere = apsw.Connection(str(path))
    cast("SqlConnection", open_elsewhere).execute("SELECT count(*) FROM runs").fetchall()
    monkeypatch.setattr("sifaka.storage.sqlite.file.BUSY_SECONDS", 0.05)
    store = SQLiteStorage(path)

    with pytest.raises(StorageError, match="locked by another process"):
        await store.recent(limit=1)

    await store.aclose()
    open_elsewhere.close()
    assert "runs.db.schema-3" not in names(tmp_path)


async def test_a_file_of_a_newer_release_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await older_file(path, "text")
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
async def test_another_programs_database_is_refused_untouched(tmp_path: Path, mark: str) -> None:
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
    tmp_path: Path,
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
def test_several_processes_set_a_file_aside_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.db" for number in range(12)]
    for path in paths:
        anyio.run(older_file, path, *(f"A zebra, number {n}." for n in range(20)))
    processes = [start("count_runs") for _ in range(4)]
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
    tmp_path: Path,
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
    assert await found(store, "zebra") == [newer.run_id]
    await store.aclose()
