from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import RUNS
from sifaka.storage.sqlite.words import catch_up_words, count_without_words

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


@pytest.mark.parametrize(("number", "remedy"), [(3, "move it away"), (99, "upgrade Sifaka")])
async def test_a_file_of_another_release_is_refused_untouched(
    tmp_path: Path, sql: Sql, number: int, remedy: str
) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await keep(store, "text")
    await store.aclose()
    sql(path, f"PRAGMA user_version = {number}")
    before = path.read_bytes()
    store = SQLiteStorage(path)

    with pytest.raises(ConfigurationError, match=f"schema {number}.*{remedy}") as caught:
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
