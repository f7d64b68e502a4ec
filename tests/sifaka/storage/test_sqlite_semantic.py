"""Search by meaning in a SQLite file, with a scripted embedder that knows a few synonyms."""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import anyio
import apsw
import pytest

from sifaka.embeddings.protocol import Role, Vector
from sifaka.errors import ConfigurationError, EmbeddingError, StorageError
from sifaka.storage.protocol import Filters
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import SqlConnection
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.runs import keep, sql

pytestmark = pytest.mark.anyio


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


@pytest.fixture
async def store(tmp_path: Path, embedder: ConceptEmbedder) -> AsyncGenerator[SQLiteStorage]:
    store = SQLiteStorage(tmp_path / "runs.db", embedder=embedder)
    yield store
    await store.aclose()


async def found(store: SQLiteStorage, query: str, **only: object) -> list[str]:
    hits = await store.search(query, limit=50, only=Filters.model_validate(only))
    return [hit.run_id for hit in hits.hits]


async def test_what_matches_in_words_and_in_meaning_comes_first(store: SQLiteStorage) -> None:
    meaning = await keep(store, "An automobile.")
    both = await keep(store, "The doctor has a car.")
    word = await keep(store, "A car, money, money, money, money, holiday, holiday, holiday.")
    await store.catch_up()
    hits = (await store.search("car", limit=5)).hits
    assert [hit.run_id for hit in hits] == [both.run_id, word.run_id, meaning.run_id]
    # Reciprocal ranks: first by words and second by meaning, second and third, none and first.
    assert [hit.score for hit in hits] == pytest.approx([1 / 61 + 1 / 62, 1 / 62 + 1 / 63, 1 / 61])
    assert [("**car**" in hit.snippet) for hit in hits] == [True, True, False]


async def test_a_model_is_asked_for_nothing_while_nothing_waits(
    store: SQLiteStorage, embedder: ConceptEmbedder
) -> None:
    embedder.failure = "it would have been loaded"
    assert await store.catch_up() == 0
    await keep(store, "An automobile.")
    with pytest.raises(StorageError, match="it would have been loaded"):
        await store.catch_up()
    embedder.failure = None
    assert await store.catch_up() == 0
    embedder.failure = "and again"
    assert await store.catch_up() == 0


async def test_what_is_not_embedded_yet_is_found_by_its_words_and_counted(
    store: SQLiteStorage, embedder: ConceptEmbedder
) -> None:
    early = await keep(store, "An automobile.")
    await keep(store.scoped("guest"), "An automobile.")
    await keep(store.scoped("guest"), "A motorcar.")
    assert (await store.search("x", limit=5)).search == "hybrid (1 version is not embedded yet)"
    await store.catch_up()
    assert embedder.embedded == 1 + 3  # the query, and all tenants' versions

    late = await keep(store, "A vehicle.", "The vehicle.")
    hits = await store.search("vehicle", limit=5)

    assert hits.search == "hybrid (2 versions are not embedded yet)"
    assert sorted(hit.thought_id for hit in hits.hits) == sorted(
        thought.id for run in (early, late) for thought in run.thoughts
    )
    assert (await store.scoped("guest").search("vehicle", limit=5)).search == "hybrid"


async def test_catching_up_with_nothing_waits_for_no_writer(
    tmp_path: Path, store: SQLiteStorage
) -> None:
    await keep(store, "A car.")
    await store.catch_up()
    writer = apsw.Connection(str(tmp_path / "runs.db"))
    cast("SqlConnection", writer).execute("BEGIN IMMEDIATE")
    assert await store.catch_up() == 0
    writer.close()


async def test_two_that_catch_up_at_once_keep_each_vector_once(
    tmp_path: Path, store: SQLiteStorage, embedder: ConceptEmbedder
) -> None:
    await keep(store, "A car.", "A vehicle.")
    waiting = Waiting(2)
    stores = [SQLiteStorage(tmp_path / "runs.db", embedder=waiting) for _ in range(2)]
    async with anyio.create_task_group() as group:
        for one in stores:
            group.start_soon(one.catch_up)
    assert waiting.embedded == 4
    assert len(await found(store, "automobile")) == 2
    for one in stores:
        await one.aclose()


class Waiting(ConceptEmbedder):
    """Answers when so many calls are waiting, or when it is let go."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.asked = anyio.Event()
        self.go = anyio.Event()
        self._calls = calls

    async def embed(self, texts: Any, *, role: Role) -> Any:
        self.asked.set()
        self._calls -= 1
        if not self._calls:
            self.go.set()
        with anyio.fail_after(30):
            await self.go.wait()
        return await super().embed(texts, role=role)


async def test_while_a_model_works_the_store_does_too(tmp_path: Path) -> None:
    embedder = Waiting(9)
    store = SQLiteStorage(tmp_path / "runs.db", embedder=embedder)
    doomed = await keep(store, "A car that is forgotten.")
    kept = await keep(store, "An automobile.")

    async with anyio.create_task_group() as group:
        group.start_soon(store.catch_up)
        await embedder.asked.wait()
        # Neither the connection nor a transaction is held: this would not come back.
        await store.delete(doomed.run_id)
        await keep(store, "A vehicle.")
        embedder.go.set()

    hits = await store.search("motorcar", limit=5)
    assert [hit.run_id for hit in hits.hits] == [kept.run_id]
    assert hits.search == "hybrid (1 version is not embedded yet)"
    await store.catch_up()
    assert len(await found(store, "motorcar")) == 2
    await store.aclose()


async def test_a_model_that_breaks_its_word_fills_nothing(tmp_path: Path) -> None:
    class Short(ConceptEmbedder):
        async def embed(self, texts: Any, *, role: Role) -> list[Vector]:
            return [vector[:3] for vector in await super().embed(texts, role=role)]

    store = SQLiteStorage(tmp_path / "runs.db", embedder=Short())
    await keep(store, "A car.")
    with pytest.raises(StorageError):
        await store.catch_up()
    assert sql(tmp_path / "runs.db", "SELECT embedded_until FROM vector_models") == [(0,)]
    await store.aclose()


async def test_a_deleted_run_leaves_no_vector_in_any_table(
    tmp_path: Path, store: SQLiteStorage
) -> None:
    other = SQLiteStorage(tmp_path / "runs.db", embedder=ConceptEmbedder("concepts:2"))
    plain = SQLiteStorage(tmp_path / "runs.db")
    run = await keep(store, "An automobile.", "A motorcar.")
    kept = await keep(store, "A vehicle.")
    for each in (store, other):
        await each.catch_up()

    await plain.delete(run.run_id)  # even by who has no embedder

    for number in (1, 2):
        assert sql(tmp_path / "runs.db", f"SELECT rowid FROM vectors_{number}_rowids") == [(3,)]  # noqa: S608
    for each in (store, other):
        assert await found(each, "car") == [kept.run_id]
    await other.aclose()
    await plain.aclose()


async def test_the_missing_extra_is_named(
    tmp_path: Path, store: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await keep(store, "An automobile.")
    await store.catch_up()
    plain = SQLiteStorage(tmp_path / "runs.db")
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)

    with pytest.raises(ConfigurationError, match=r"\[embeddings\]"):
        SQLiteStorage(tmp_path / "runs.db", embedder=ConceptEmbedder())
    # Rather than keep vectors of what it says is forgotten.
    with pytest.raises(ConfigurationError, match=r"\[embeddings\]"):
        await plain.delete(run.run_id)

    assert await plain.load(run.run_id) == run
    assert (await plain.search("automobile", limit=5)).search == "bm25"
    await plain.aclose()


async def test_sql_cannot_load_libraries(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db", embedder=ConceptEmbedder())
    await keep(store, "x")
    await store.catch_up()
    with pytest.raises(StorageError, match="not authorized"):
        await store.worker.run(lambda c: c.execute("SELECT load_extension('vec0')").fetchall())
    await store.aclose()


async def test_health_tells_of_the_file(tmp_path: Path, store: SQLiteStorage) -> None:
    await keep(store, "A car.", "An automobile.")
    (file,) = await store.health()
    assert file.works
    assert file.part == f"sqlite:///{tmp_path}/runs.db"
    assert file.found.startswith("schema 5, runs: 1, 0.")


async def test_a_model_that_fails_for_now_is_asked_again_for_every_text(tmp_path: Path) -> None:
    class Busy(ConceptEmbedder):
        async def embed(self, texts: Any, *, role: Role) -> Any:
            if self.failure is None and "A car." in texts:
                self.failure = "once"
                failure = EmbeddingError("too many requests")
                failure.retryable = True
                raise failure
            self.failure = None
            return await super().embed(texts, role=role)

        async def dimension(self) -> int:
            return self.size

    store = SQLiteStorage(tmp_path / "runs.db", embedder=Busy())
    run = await keep(store, "A car.")

    with pytest.raises(StorageError, match="too many requests"):
        await store.catch_up()
    await store.catch_up()

    assert [hit.run_id for hit in (await store.search("motorcar", limit=5)).hits] == [run.run_id]
    await store.aclose()
