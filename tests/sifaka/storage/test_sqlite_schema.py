import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import anyio
import apsw
import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.protocol import ANY, Filters
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import (
    MIGRATIONS,
    add_claims_filters_and_vectors,
    add_search,
    create_runs_and_entries,
)
from sifaka.storage.sqlite.words import catch_up_words, count_without_words
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
Sql = Callable[..., list[tuple[Any, ...]]]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if not file.match("*-reserve"))


def version_1_file(path: Path, *texts: str) -> list[Run]:
    """A file as the first schema had it, with one run per text."""
    connection = apsw.Connection(str(path))
    sql = cast("SqlConnection", connection)
    create_runs_and_entries(sql)
    sql.execute("PRAGMA user_version = 1")
    runs: list[Run] = []
    for text in texts:
        started = Started(prompt="Describe an animal.")
        drafted = Drafted(thought=Thought(run_id=started.run_id, text=text))
        entries: list[Entry] = [started, drafted]
        run = Run.replay(entries)
        sql.execute(
            "INSERT INTO runs VALUES ('default', ?, 2, 'running', 0, NULL, 0, '', ?, ?)",
            (run.run_id, to_microseconds(run.created_at), to_microseconds(run.updated_at)),
        )
        for seq, payload in enumerate(encode_entries(run, entries, 0), 1):
            sql.execute(
                "INSERT INTO entries VALUES ('default', ?, ?, ?)", (run.run_id, seq, payload)
            )
        runs.append(run)
    connection.close()
    return runs


def version_2_file(path: Path, *texts: str) -> list[Run]:
    """A file as the second schema had it, with one run per text."""
    runs = version_1_file(path, *texts)
    connection = apsw.Connection(str(path))
    sql = cast("SqlConnection", connection)
    add_search(sql)
    sql.execute("PRAGMA user_version = 2")
    connection.close()
    return runs


async def test_a_file_of_version_1_is_upgraded_with_its_data(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    zebra, lion = version_1_file(path, "A zebra: gestreift, \u00fcberall.", "A lion.")

    store = SQLiteStorage(path)

    assert await store.load(zebra.run_id) == zebra
    for query, runs in (("zebra", [zebra]), ("uberall", [zebra]), ("animal", [lion, zebra])):
        hits = (await store.search(query, limit=9)).hits
        assert sorted(hit.run_id for hit in hits) == sorted(run.run_id for run in runs)
    # What is appended now is found beside what was there before.
    entry = Drafted(thought=Thought(run_id=lion.run_id, iteration=1, text="A zebra after all."))
    await store.append(lion.apply(entry), [entry], expected_version=2)
    assert len((await store.search("zebra", limit=9)).hits) == 2
    await store.aclose()
    assert sql(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]


async def test_a_file_of_version_2_gets_claims_filters_and_vectors(
    tmp_path: Path, sql: Sql
) -> None:
    path = tmp_path / "runs.db"
    first, second = version_2_file(path, "An automobile, striped.", "A doctor, striped.")
    store = SQLiteStorage(path, embedder=ConceptEmbedder())
    moment = second.thoughts[0].created_at

    async def found(query: str, only: Filters = ANY) -> list[str]:
        return [hit.run_id for hit in (await store.search(query, limit=9, only=only)).hits]

    assert await found("striped", Filters(since=moment)) == [second.run_id]
    assert await found("striped", Filters(until=moment)) == [first.run_id]
    assert await found("striped", Filters(tags=("legal",))) == []
    assert await store.claim(first.run_id) == 1
    assert await store.catch_up() == 0
    assert await found("car") == [first.run_id]
    await store.delete(first.run_id)
    assert await found("striped") == [second.run_id]
    assert await store.load(second.run_id) == second
    await store.aclose()
    sql(path, "INSERT INTO version_words (version_words, rank) VALUES ('integrity-check', 1)")


async def test_a_damaged_entry_does_not_keep_a_file_of_version_2_from_its_upgrade(
    tmp_path: Path, sql: Sql
) -> None:
    path = tmp_path / "runs.db"
    damaged, healthy = version_2_file(path, "A zebra.", "A zebra.")
    sql(path, "UPDATE entries SET payload = '{' WHERE run_id = ?", (damaged.run_id,))
    store = SQLiteStorage(path)

    assert [hit.run_id for hit in (await store.search("zebra", limit=9)).hits] == [healthy.run_id]

    await store.aclose()


async def test_an_upgraded_file_has_the_schema_of_a_new_one(tmp_path: Path, sql: Sql) -> None:
    version_1_file(tmp_path / "old.db", "text")
    schemas: list[object] = []
    for name in ("old.db", "new.db"):
        store = SQLiteStorage(tmp_path / name)
        await store.recent(limit=1)
        await store.aclose()
        schemas.append(sql(tmp_path / name, "SELECT name, sql FROM sqlite_schema"))
    assert schemas[0] == schemas[1]


async def test_an_upgrade_that_fails_leaves_the_file_as_it_was(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    (run,) = version_1_file(path, "text")
    sql(path, "UPDATE entries SET payload = 'no JSON' WHERE seq = 2")
    store = SQLiteStorage(path)

    with pytest.raises(StorageError, match=r"runs\.db"):
        await store.load(run.run_id)

    await store.aclose()
    assert sql(path, "PRAGMA user_version") == [(1,)]
    assert sql(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'version%'") == [(0,)]


async def test_a_file_of_a_newer_release_is_refused_untouched(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    version_1_file(path, "text")
    newer = len(MIGRATIONS) + 1
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


@pytest.mark.parametrize("moment", ["'yesterday'", "7", "CAST(x'ff' AS TEXT)"])
async def test_a_moment_that_is_none_does_not_keep_a_file_from_its_upgrade(
    tmp_path: Path, sql: Sql, moment: str
) -> None:
    path = tmp_path / "runs.db"
    damaged, healthy = version_2_file(path, "A zebra.", "A zebra.")
    sql(
        path,
        f"UPDATE entries SET payload = json_set(payload, '$.thought.created_at', {moment}) "  # noqa: S608
        "WHERE run_id = ? AND seq = 2",
        (damaged.run_id,),
    )
    store = SQLiteStorage(path)

    assert await store.load(healthy.run_id) == healthy
    hits = (await store.search("zebra", limit=9, only=Filters(since=healthy.created_at))).hits
    assert [hit.run_id for hit in hits] == [healthy.run_id]

    await store.aclose()


async def test_a_file_that_a_newer_release_upgrades_meanwhile_is_not_written_any_more(
    tmp_path: Path, sql: Sql
) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    started = Started()
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    newer = len(MIGRATIONS) + 1
    sql(path, f"PRAGMA user_version = {newer}")
    entry = Drafted(thought=Thought(run_id=run.run_id, text="x"))

    for _ in range(2):
        with pytest.raises(ConfigurationError, match=f"schema {newer}.*upgrade Sifaka"):
            await store.append(run.apply(entry), [entry], expected_version=1)

    await store.aclose()
    assert sql(path, "SELECT count(*) FROM entries") == [(1,)]


def test_two_processes_may_upgrade_a_file_at_once(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    runs = version_2_file(path, *(f"A zebra, number {n}." for n in range(200)))
    script = Path(__file__).parent / "count_runs.py"

    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()

    assert [process.communicate(timeout=60)[0] for process in processes] == ["200\n"] * 4
    assert sql(path, "SELECT count(*), max(id) FROM versions") == [(len(runs), len(runs))]
    assert sql(path, "PRAGMA foreign_key_check") == []


def test_an_upgrade_that_is_killed_is_done_again(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    version_2_file(path, *(f"A zebra, number {n}." for n in range(50)))
    script = Path(__file__).parent / "upgrade_and_die.py"

    for step in range(1, 60, 7):
        killed = subprocess.run(
            [sys.executable, str(script), str(path), str(step)], timeout=60, check=False
        )
        assert killed.returncode == -signal.SIGKILL
        assert sql(path, "PRAGMA user_version") == [(2,)]
        assert sql(path, "PRAGMA integrity_check") == [("ok",)]

    async def hits() -> int:
        store = SQLiteStorage(path)
        found = len((await store.search("zebra", limit=99)).hits)
        await store.aclose()
        return found

    assert anyio.run(hits) == 50


def version_3_file(path: Path, *texts: str) -> list[Run]:
    """A file as the third schema had it, with one run per text."""
    runs = version_2_file(path, *texts)
    connection = apsw.Connection(str(path))
    sql = cast("SqlConnection", connection)
    add_claims_filters_and_vectors(sql)
    sql.execute("PRAGMA user_version = 3")
    connection.close()
    return runs


async def test_the_words_of_an_older_file_are_indexed_anew(tmp_path: Path, sql: Sql) -> None:
    path = tmp_path / "runs.db"
    chinese, english = version_3_file(path, "我们在三十天内退款。", "Refunds are paid.")
    store = SQLiteStorage(path)

    for query, run in (("退款", chinese), ("refunded", english)):
        hits = await store.search(query, limit=5)
        assert [hit.run_id for hit in hits.hits] == [run.run_id]
        assert hits.search == "bm25"
    await store.delete(english.run_id)
    assert (await store.search("refund", limit=5)).hits == ()
    await store.aclose()
    assert sql(path, "SELECT * FROM versions_without_words") == []
    sql(path, "INSERT INTO version_words (version_words, rank) VALUES ('integrity-check', 1)")


async def test_versions_that_are_not_indexed_yet_are_told_of_and_lost_by_nothing(
    tmp_path: Path, sql: Sql
) -> None:
    path = tmp_path / "runs.db"
    older, newer = version_3_file(path, "A zebra.", "Zebras.")
    store = SQLiteStorage(path)
    await store.recent(limit=1)
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
