"""Search by meaning, the same in every index, with an embedder that knows a few synonyms."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.protocol import Filters, SearchIndex
from sifaka.storage.sqlite import SQLiteStorage
from tests.storage_contract.index_kinds import IndexOfLog
from tests.storage_contract.runs import accepted, made
from tests.stubs.elasticsearch_server import ElasticsearchServer
from tests.stubs.embedders import ConceptEmbedder, PickyEmbedder

pytestmark = pytest.mark.anyio
Open = Callable[[Embedder], SearchIndex]


@pytest.fixture(params=["sqlite", "milvus_lite", "elasticsearch"])
async def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Open]:
    """Opens one place, empty at first, with any embedder."""
    async with AsyncExitStack() as stack:
        server = ElasticsearchServer() if request.param == "elasticsearch" else None

        def make(embedder: Embedder) -> SearchIndex:
            if server is not None:
                url = f"elasticsearch+http://{server.host}"
                return ElasticsearchIndex(url, embedder=embedder)
            if request.param == "sqlite":
                store = SQLiteStorage(tmp_path / "runs.db", embedder=embedder)
                return IndexOfLog(store, catches_up=False)
            return MilvusIndex(f"milvus:///{tmp_path}/runs.db", embedder=embedder)

        def open_(embedder: Embedder) -> SearchIndex:
            index = make(embedder)
            stack.push_async_callback(index.aclose)
            return index

        if server is not None:
            stack.callback(server.stop)
        yield open_


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


@pytest.fixture
def index(open_index: Open, embedder: ConceptEmbedder) -> SearchIndex:
    return open_index(embedder)


async def found(index: SearchIndex, query: str, only: Filters | None = None) -> list[str]:
    hits = await index.search(query, limit=50, only=only or Filters())
    return [hit.run_id for hit in hits.hits]


async def test_a_synonym_is_found_once_it_has_a_vector(index: SearchIndex) -> None:
    car = made("The automobile stops.\nThe driver waits. " + "It rains. " * 200)
    for run in (car, made("The physician smiles.")):
        await index.put(run)
    before = await index.search("car", limit=5)
    assert (before.hits, before.search) == ((), "hybrid (2 versions are not embedded yet)")

    assert await index.catch_up() == 0

    hits = await index.search("car", limit=5)
    assert hits.search == "hybrid"
    (hit,) = hits.hits
    assert (hit.run_id, hit.thought_id) == (car.run_id, car.thoughts[0].id)
    assert hit.created_at == car.thoughts[0].created_at
    # No word to show: the beginning, in one line.
    assert hit.snippet.startswith("The automobile stops. The driver")
    assert len(hit.snippet) <= 300


async def test_64_versions_are_embedded_at_a_time_and_none_twice(
    index: SearchIndex, embedder: ConceptEmbedder
) -> None:
    await index.put(made(*(f"car {n}" for n in range(100))))
    assert [await index.catch_up() for _ in range(3)] == [36, 0, 0]
    assert embedder.batches == [64, 36]


async def test_a_model_that_fails_holds_up_no_put_and_no_search(
    index: SearchIndex, embedder: ConceptEmbedder
) -> None:
    embedder.failure = "the model\nis away"
    run = made("The automobile stops.")
    await index.put(run)

    hits = await index.search("stops", limit=5)
    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25 (semantic: failed (the model is away))"
    with pytest.raises(StorageError, match="is away") as caught:
        await index.catch_up()
    assert caught.value.retryable

    embedder.failure = None
    assert await index.catch_up() == 0
    assert await found(index, "car") == [run.run_id]


async def test_the_vectors_of_two_models_are_never_mixed(
    open_index: Open, index: SearchIndex
) -> None:
    run = made("An automobile.")
    await index.put(run)
    await index.catch_up()
    other = open_index(ConceptEmbedder("concepts:2", dimension=16))

    hits = await other.search("car", limit=5)
    assert (hits.hits, hits.search) == ((), "hybrid (1 version is not embedded yet)")
    assert await other.catch_up() == 0
    for each in (other, index):
        assert await found(each, "car") == [run.run_id]
    await other.drop(run.run_id)
    assert await found(index, "car") == []


async def test_a_model_that_changed_its_dimension_is_refused(
    open_index: Open, index: SearchIndex
) -> None:
    await index.put(made("An automobile."))
    await index.catch_up()
    await index.put(made("A boat."))
    changed = open_index(ConceptEmbedder(dimension=16))
    for call in (changed.catch_up(), changed.search("car", limit=1)):
        with pytest.raises(ConfigurationError, match=r"dimension|makes 16") as caught:
            await call
        assert caught.value.suggestion
    assert len(await found(index, "car")) == 1


@pytest.mark.slow
async def test_filters_and_tenants_hold_for_meaning_too(index: SearchIndex) -> None:
    runs = [made("automobile") for _ in range(80)]  # more that are closer than are looked at
    tagged = accepted(made("An automobile, a price.", tags=("legal",)))
    for run in (*runs, tagged):
        await index.put(run)
    guests = made("A motorcar.")
    await index.scoped("guest").put(guests)
    while await index.catch_up():
        pass

    assert tagged.run_id not in await found(index, "car")
    moment = tagged.thoughts[0].created_at
    for only in (Filters(tags=("legal",)), Filters(passed=True), Filters(since=moment)):
        assert await found(index, "car", only) == [tagged.run_id], only
    assert tagged.run_id not in await found(index, "car", Filters(until=moment))
    assert await found(index.scoped("guest"), "car") == [guests.run_id]


async def test_a_text_that_the_model_refuses_holds_up_no_other(open_index: Open) -> None:
    embedder = PickyEmbedder()
    index = open_index(embedder)
    refused, run = made("zebra vehicle " * 400), made("An automobile.")
    for each in (refused, run):
        await index.put(each)

    while await index.catch_up():
        pass
    asked = len(embedder.batches)
    assert await index.catch_up() == 0

    assert len(embedder.batches) == asked
    assert await found(index, "motorcar") == [run.run_id]
    assert await found(index, "zebra") == [refused.run_id]


async def test_half_a_surrogate_pair_is_searched_for_all_the_same(index: SearchIndex) -> None:
    run = made("An automobile.")
    await index.put(run)
    await index.catch_up()
    assert await found(index, "car \ud83d") == [run.run_id]
