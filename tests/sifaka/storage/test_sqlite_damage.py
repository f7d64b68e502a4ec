"""Damaged rows are left out, logged, and harm nothing else."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.protocol import Filters
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.runs import keep, listed, sql

pytestmark = pytest.mark.anyio

NO_JSON = "'no JSON: a zebra'"
NO_UTF8 = """replace(payload, '"The zebra', CAST(x'22ff' AS TEXT))"""
NO_THOUGHT = "'{}'"
damages = pytest.mark.parametrize("damage", [NO_JSON, NO_UTF8, NO_THOUGHT])


@pytest.fixture(params=[False, True], ids=["words", "meaning"])
async def store(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[SQLiteStorage]:
    embedder = ConceptEmbedder() if request.param else None
    store = SQLiteStorage(tmp_path / "runs.db", embedder=embedder)
    yield store
    await store.aclose()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def spoil(path: Path, run: Run, damage: str) -> None:
    sql(
        path,
        f"UPDATE entries SET payload = {damage} WHERE run_id = ? AND seq = 2",  # noqa: S608
        (run.run_id,),
    )


@damages
async def test_a_search_leaves_out_what_is_damaged_and_logs_it(
    path: Path, store: SQLiteStorage, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = await keep(store, "The zebra, a zebra, zebras.")
    healthy = await keep(store, "The zebra sleeps.")
    await store.catch_up()
    spoil(path, damaged, damage)
    with caplog.at_level(logging.WARNING, logger="sifaka"):
        # It would be the best hit, and takes no other one's place.
        hits = (await store.search("zebra", limit=1)).hits
    assert [hit.run_id for hit in hits] == [healthy.run_id]
    assert "version 1 " in caplog.text
    assert await listed(store) == [healthy.run_id, damaged.run_id]


async def test_a_run_whose_beginning_is_damaged_is_left_out(
    path: Path, store: SQLiteStorage
) -> None:
    damaged = await keep(store, "The zebra runs.")
    healthy = await keep(store, "The zebra sleeps.")
    sql(path, "UPDATE entries SET payload = '' WHERE run_id = ? AND seq = 1", (damaged.run_id,))
    hits = (await store.search("zebra", limit=5)).hits
    assert [hit.run_id for hit in hits] == [healthy.run_id]


@damages
async def test_what_is_damaged_holds_up_no_embedding(path: Path, damage: str) -> None:
    store = SQLiteStorage(path, embedder=ConceptEmbedder())
    damaged = await keep(store, "The zebra drives a car.")
    healthy = await keep(store, "An automobile.")
    spoil(path, damaged, damage)
    assert await store.catch_up() == 0
    hits = await store.search("motorcar", limit=5)
    assert [hit.run_id for hit in hits.hits] == [healthy.run_id]
    assert hits.search == "hybrid"
    await store.aclose()


@pytest.mark.parametrize("begun_anew", [False, True])
async def test_a_follower_of_a_run_that_is_deleted_is_told_and_takes_no_other_for_it(
    store: SQLiteStorage, begun_anew: bool
) -> None:
    run = await keep(store, "The zebra runs.")
    with anyio.fail_after(30):
        async with aclosing(store.follow(run.run_id)) as steps:
            for _ in range(run.version):
                await anext(steps)
            await store.delete(run.run_id)
            if begun_anew:
                started = Started(run_id=run.run_id)
                await store.append(Run.start(started), [started], expected_version=0)
            with pytest.raises(ThoughtNotFound):
                await anext(steps)


async def test_a_list_leaves_out_a_run_whose_line_is_damaged(
    path: Path, store: SQLiteStorage, caplog: pytest.LogCaptureFixture
) -> None:
    healthy = [await keep(store, "x")]
    damaged: list[str] = []
    for damage in (
        *("excerpt = CAST(x'ff' AS TEXT)", "status = 'invented'", "stop_reason = x'00ff'"),
        *("iterations = 'some'", "created_at = 9000000000000000000"),
        "updated_at = 9000000000000000000",
    ):
        damaged.append((await keep(store, "x")).run_id)
        healthy.insert(0, await keep(store, "x"))
        sql(path, f"UPDATE runs SET {damage} WHERE run_id = ?", (damaged[-1],))  # noqa: S608
    with caplog.at_level(logging.WARNING, logger="sifaka"):
        first = await store.recent(limit=1)
        second = await store.recent(limit=len(healthy) - 1, cursor=first.next_cursor)
    assert [*first.runs, *second.runs] == [run.summary() for run in healthy]
    assert second.next_cursor is None
    assert [run_id for run_id in damaged if run_id not in caplog.text] == []


async def test_a_run_that_has_lost_its_end_is_not_taken_for_a_shorter_one(
    path: Path, store: SQLiteStorage
) -> None:
    for damage, told in (
        ("DELETE FROM entries WHERE seq = 3 AND run_id = ?", "entry 3 of run {} is missing"),
        ("DELETE FROM entries WHERE run_id = ?", "entry 1 of run {} is missing"),
        ("UPDATE runs SET version = 4 WHERE run_id = ?", "entry 4 of run {} is missing"),
        ("UPDATE runs SET version = 2 WHERE run_id = ?", "run {} has 3 entries"),
        ("UPDATE runs SET version = 'three' WHERE run_id = ?", "run {} has 3 entries"),
    ):
        run = await keep(store, "The zebra runs.", "The zebra sleeps.")
        sql(path, damage, (run.run_id,))
        expected = told.format(repr(run.run_id))
        with pytest.raises(StorageError, match=expected):
            await store.load(run.run_id)
        with pytest.raises(StorageError, match=expected), anyio.fail_after(30):
            async for _ in store.follow(run.run_id):
                pass
        await store.delete(run.run_id)
        with pytest.raises(ThoughtNotFound):
            await store.load(run.run_id)


async def test_what_is_damaged_beside_the_entries_harms_no_other_run(
    path: Path, store: SQLiteStorage
) -> None:
    healthy = await keep(store, "The zebra sleeps.", tags=("legal",))
    for damage in (
        *("runs SET tags = 'no JSON'", "runs SET tags = x'00ff'"),
        *("versions SET created_at = 'noon'", "versions SET created_at = 9000000000000000000"),
    ):
        damaged = await keep(store, "The zebra runs.", tags=("legal",))
        await store.catch_up()
        sql(path, f"UPDATE {damage} WHERE run_id = ?", (damaged.run_id,))
        hits = (await store.search("zebra", limit=5, only=Filters(tags=("legal",)))).hits
        assert [hit.run_id for hit in hits] == [healthy.run_id], damage


async def test_a_run_that_is_deleted_leaves_nothing_in_the_file_and_its_index(
    path: Path, store: SQLiteStorage
) -> None:
    await keep(store, "A lion.", prompt="manes")
    sql(path, "CREATE VIRTUAL TABLE terms USING fts5vocab (version_words, 'row')")
    for text in ("The zebra runs.", "a\0zebra", "\ufeffzebra", "e\u0301tude zebra", "\U0001f9a5 z"):
        run = await keep(store, text, "The zebra sleeps.", prompt=text)
        await store.catch_up()
        await store.delete(run.run_id)

        sql(path, "INSERT INTO version_words (version_words, rank) VALUES ('integrity-check', 1)")
        assert sql(path, "SELECT term FROM terms") == [("a",), ("lion",), ("mane",)], text
        assert sql(path, "PRAGMA integrity_check") == [("ok",)]
        for table in ("runs", "entries", "versions"):
            ids = sql(path, f"SELECT count(*) FROM {table} WHERE run_id = ?", (run.run_id,))  # noqa: S608
            assert ids == [(0,)], table
