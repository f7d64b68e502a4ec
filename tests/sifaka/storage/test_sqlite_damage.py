"""What is damaged is left out, said, and harms nothing else."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka.entries import Started
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.run import Run
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Sql = Callable[..., list[tuple[Any, ...]]]

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


async def spoil(path: Path, sql: Sql, run: Run, damage: str) -> None:
    sql(
        path,
        f"UPDATE entries SET payload = {damage} WHERE run_id = ? AND seq = 2",  # noqa: S608
        (run.run_id,),
    )


@damages
async def test_a_search_leaves_out_what_is_damaged_and_logs_it(
    path: Path,
    store: SQLiteStorage,
    keep: Keep,
    sql: Sql,
    damage: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    damaged = await keep(store, "The zebra, a zebra, zebras.")
    healthy = await keep(store, "The zebra sleeps.")
    await store.catch_up()
    await spoil(path, sql, damaged, damage)

    with caplog.at_level(logging.WARNING, logger="sifaka"):
        # It would be the best hit, and takes nobody's place.
        hits = (await store.search("zebra", limit=1)).hits

    assert [hit.run_id for hit in hits] == [healthy.run_id]
    assert "version 1 " in caplog.text
    assert [line.run_id for line in (await store.recent(limit=5)).runs] == [
        healthy.run_id,
        damaged.run_id,
    ]


async def test_a_run_whose_beginning_is_damaged_is_left_out(
    path: Path, store: SQLiteStorage, keep: Keep, sql: Sql
) -> None:
    damaged = await keep(store, "The zebra runs.")
    healthy = await keep(store, "The zebra sleeps.")
    sql(path, "UPDATE entries SET payload = '' WHERE run_id = ? AND seq = 1", (damaged.run_id,))

    hits = (await store.search("zebra", limit=5)).hits

    assert [hit.run_id for hit in hits] == [healthy.run_id]


@damages
async def test_a_damaged_run_can_be_deleted(
    path: Path, store: SQLiteStorage, keep: Keep, sql: Sql, damage: str
) -> None:
    damaged = await keep(store, "The zebra runs.", "The zebra sleeps.")
    await store.catch_up()
    await spoil(path, sql, damaged, damage)

    await store.delete(damaged.run_id)
    later = await keep(store, "A giraffe.")
    await store.catch_up()

    with pytest.raises(ThoughtNotFound):
        await store.load(damaged.run_id)
    assert (await store.search("zebra", limit=5)).hits == ()
    assert [hit.run_id for hit in (await store.search("giraffe", limit=5)).hits] == [later.run_id]


@damages
async def test_what_is_damaged_holds_up_no_embedding(
    path: Path, keep: Keep, sql: Sql, damage: str
) -> None:
    store = SQLiteStorage(path, embedder=ConceptEmbedder())
    damaged = await keep(store, "The zebra drives a car.")
    healthy = await keep(store, "An automobile.")
    await spoil(path, sql, damaged, damage)

    assert await store.catch_up() == 0

    hits = await store.search("motorcar", limit=5)
    assert [hit.run_id for hit in hits.hits] == [healthy.run_id]
    assert hits.search == "hybrid"
    await store.aclose()


async def test_a_run_that_is_deleted_leaves_nothing_in_the_file_s_index(
    path: Path, store: SQLiteStorage, keep: Keep, sql: Sql
) -> None:
    run = await keep(store, "The zebra runs.", "The zebra sleeps.", prompt="stripes")
    await keep(store, "A lion.", prompt="manes")
    await store.delete(run.run_id)

    sql(path, "INSERT INTO version_search (version_search, rank) VALUES ('integrity-check', 1)")
    sql(path, "CREATE VIRTUAL TABLE terms USING fts5vocab (version_search, 'row')")
    assert sql(path, "SELECT term FROM terms") == [("a",), ("lion",), ("mane",)]
    for table in ("runs", "entries", "versions"):
        ids = sql(path, f"SELECT count(*) FROM {table} WHERE run_id = ?", (run.run_id,))  # noqa: S608
        assert ids == [(0,)], table


@damages
async def test_a_follower_is_told_of_a_damaged_entry(
    path: Path, store: SQLiteStorage, keep: Keep, sql: Sql, damage: str
) -> None:
    if damage == NO_UTF8:
        damage = "CAST(x'ff' AS TEXT)"
    run = await keep(store, "The zebra runs.")
    await spoil(path, sql, run, damage)

    with pytest.raises(StorageError, match=f"entry 2 of run '{run.run_id}'"), anyio.fail_after(30):
        async for _ in store.follow(run.run_id):
            pass


async def test_a_follower_of_a_run_that_is_deleted_is_told(
    store: SQLiteStorage, keep: Keep
) -> None:
    run = await keep(store, "The zebra runs.")
    with anyio.fail_after(30):
        async with aclosing(store.follow(run.run_id)) as steps:
            for _ in range(run.version):
                await anext(steps)
            await store.delete(run.run_id)
            with pytest.raises(ThoughtNotFound):
                await anext(steps)


async def test_a_follower_does_not_take_another_run_of_the_same_id_for_its_own(
    store: SQLiteStorage, keep: Keep
) -> None:
    run = await keep(store, "The zebra runs.")
    with anyio.fail_after(30):
        async with aclosing(store.follow(run.run_id)) as steps:
            for _ in range(run.version):
                await anext(steps)
            await store.delete(run.run_id)
            started = Started(run_id=run.run_id)
            await store.append(Run.start(started), [started], expected_version=0)
            with pytest.raises(ThoughtNotFound):
                await anext(steps)
