import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import cast

import anyio
import apsw
import pytest

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite import file as sqlite_file
from sifaka.storage.sqlite.connection import SqlConnection

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


async def write_one(store: SQLiteStorage) -> Run:
    started = Started()
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    return run


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


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
        await write_one(store)
    finally:
        os.umask(previous)

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(path.parent)}
    assert files == dict.fromkeys(("runs.db", "runs.db-wal", "runs.db-shm"), 0o600)
    await store.aclose()
    assert names(path.parent) == ["runs.db"]


async def test_nothing_is_created_before_the_first_use(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "a" / "runs.db")
    await store.scoped("ann").aclose()
    await store.aclose()
    assert names(tmp_path) == []


@pytest.mark.slow
def test_apsw_is_imported_when_a_store_is_used() -> None:
    code = (
        "import sys; from pathlib import Path; from sifaka.storage import open_store; "
        "open_store('sqlite:', home=Path('unused')); sys.exit('apsw' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    opened = sqlite_file.open_file(tmp_path / "runs.db")
    settings = [
        opened.sql.execute(f"PRAGMA {name}").get
        for name in ("journal_mode", "synchronous", "fullfsync", "foreign_keys", "busy_timeout")
    ]
    sqlite_file.close_file(opened)
    assert settings == ["wal", 2, 1, 1, 5000]


async def test_many_may_open_a_fresh_file_at_the_same_moment(tmp_path: Path) -> None:
    for attempt in range(10):
        stores = [SQLiteStorage(tmp_path / f"{attempt}.db") for _ in range(8)]
        async with anyio.create_task_group() as group:
            for store in stores:
                group.start_soon(write_one, store)
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
    await write_one(store)
    await store.aclose()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))

    assert "damaged" in await refused(path)


async def test_a_folder_that_must_not_be_written_is_named(ordinary_folder: Path) -> None:
    allow(ordinary_folder, 0o500)
    await refused(ordinary_folder / "runs.db")
    await refused(ordinary_folder / "new" / "runs.db")


@pytest.mark.parametrize(("name", "mode"), [("", 0o500), ("runs.db", 0o400), ("runs.db", 0o000)])
async def test_a_store_that_must_not_be_written_or_read_is_named(
    ordinary_folder: Path, name: str, mode: int
) -> None:
    path = ordinary_folder / "runs.db"
    store = SQLiteStorage(path)
    await write_one(store)
    await store.aclose()
    allow(ordinary_folder / name, mode)

    await refused(path)


async def test_a_lock_that_stays_is_reported_as_worth_a_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await write_one(store)
    other = lock(path, "IMMEDIATE")

    with pytest.raises(StorageError, match="locked by another process") as caught:
        await write_one(store)
    assert caught.value.retryable
    # Reading goes on beside a writer, and the store is as good as before when it is gone.
    assert len((await store.recent(limit=5)).runs) == 1
    other.close()
    await write_one(store)
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
    opened = sqlite_file.open_file(path)

    assert len(pauses) == 1
    assert opened.sql.execute("PRAGMA journal_mode").get == "wal"
    sqlite_file.close_file(opened)


async def test_a_locked_fresh_file_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    path = tmp_path / "runs.db"
    other = lock(path, "EXCLUSIVE")

    assert "locked by another process" in await refused(path)

    other.close()


async def test_a_store_whose_file_was_deleted_goes_on_in_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await write_one(store)
    delete_files(tmp_path)

    run = await write_one(store)

    # Another process finds it, now and after the first one has closed.
    for _ in range(2):
        other = SQLiteStorage(path)
        assert [line.run_id for line in (await other.recent(limit=9)).runs] == [run.run_id]
        await other.aclose()
        await store.aclose()


async def test_closing_after_the_file_was_replaced_leaves_the_new_one_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.db"
    old = SQLiteStorage(path)
    await write_one(old)
    delete_files(tmp_path)
    new = SQLiteStorage(path)
    run = await write_one(new)

    await old.aclose()

    assert (tmp_path / "runs.db-wal").exists()
    assert await new.load(run.run_id) == run
    await new.aclose()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    view = store.scoped("ann")
    await write_one(store)
    await store.aclose()

    for closed in (store, view):
        with pytest.raises(StorageError, match="closed"):
            await closed.recent(limit=1)


async def test_a_store_is_closed_even_when_its_task_is_cancelled(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    await write_one(store)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.aclose()
    assert names(tmp_path) == ["runs.db"]


async def test_a_relative_path_is_pinned_when_the_store_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SQLiteStorage("runs.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    await write_one(store)
    await store.aclose()
    assert (tmp_path / "runs.db").exists()
