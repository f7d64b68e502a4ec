"""Search by meaning, with a scripted embedder that knows a few synonyms."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.milvus import MilvusStorage
from sifaka.storage.protocol import Filters
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.milvus_server import server_2_3

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


@pytest.fixture
async def store(url: str, embedder: ConceptEmbedder) -> AsyncGenerator[MilvusStorage]:
    store = MilvusStorage(url, embedder=embedder)
    yield store
    await store.aclose()


async def found(store: MilvusStorage, query: str) -> list[str]:
    return [hit.run_id for hit in (await store.search(query, limit=9)).hits]


async def test_a_synonym_is_found_once_it_has_a_vector(store: MilvusStorage, keep: Keep) -> None:
    car = await keep(store, "The automobile stops.")
    await keep(store, "The physician smiles.")
    before = await store.search("car", limit=5)
    assert (before.hits, before.search) == ((), "hybrid (2 versions are not embedded yet)")

    assert await store.catch_up() == 0

    hits = await store.search("car", limit=5)
    assert hits.search == "hybrid"
    (hit,) = hits.hits
    assert (hit.run_id, hit.thought_id) == (car.run_id, car.thoughts[0].id)
    assert hit.snippet == "The automobile stops."


async def test_words_and_meaning_together_come_before_either(
    store: MilvusStorage, keep: Keep
) -> None:
    meaning = await keep(store, "The physician smiles.")
    both = await keep(store, "The doctor waits.")
    words = await keep(store, "Doctor no automobile car vehicle motorcar vehicle car.")
    await store.catch_up()

    ids = await found(store, "doctor")

    assert ids[0] == both.run_id
    assert set(ids) == {both.run_id, meaning.run_id, words.run_id}


async def test_an_append_does_not_wait_for_the_model(
    store: MilvusStorage, keep: Keep, embedder: ConceptEmbedder
) -> None:
    embedder.failure = "the model is away"
    run = await keep(store, "The automobile stops.")

    hits = await store.search("stops", limit=5)
    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25 (semantic: failed (the model is away))"
    with pytest.raises(StorageError, match="the model is away") as caught:
        await store.catch_up()
    assert caught.value.retryable

    embedder.failure = None
    assert await store.catch_up() == 0
    assert await found(store, "car") == [run.run_id]


async def test_64_versions_are_embedded_at_a_time_and_none_twice(
    store: MilvusStorage, embedder: ConceptEmbedder
) -> None:
    started = Started(run_id="long")
    run = Run.start(started)
    entries = [
        Drafted(thought=Thought(run_id="long", iteration=n, text="A car.")) for n in range(70)
    ]
    for entry in entries:
        run = run.apply(entry)
    await store.append(run, [started, *entries], expected_version=0)

    assert [await store.catch_up() for _ in range(3)] == [6, 0, 0]
    assert embedder.batches == [64, 6]


async def test_another_process_finds_what_has_no_vector_yet(
    url: str, keep: Keep, embedder: ConceptEmbedder
) -> None:
    writer = MilvusStorage(url)
    run = await keep(writer, "The automobile stops.")
    await writer.aclose()

    reader = MilvusStorage(url, embedder=embedder)
    assert await reader.catch_up() == 0
    assert await found(reader, "car") == [run.run_id]
    await reader.aclose()


async def test_the_vectors_of_two_models_are_never_mixed(
    url: str, store: MilvusStorage, keep: Keep
) -> None:
    run = await keep(store, "The automobile stops.")
    await store.catch_up()
    other = MilvusStorage(url, embedder=ConceptEmbedder("concepts:2", dimension=20))

    assert await found(other, "car") == []
    assert await other.catch_up() == 0
    assert await found(other, "car") == [run.run_id]
    assert await found(store, "car") == [run.run_id]
    await other.delete(run.run_id)
    assert await found(store, "car") == []
    await other.aclose()


async def test_a_model_that_changed_its_dimension_is_refused(
    url: str, store: MilvusStorage, keep: Keep
) -> None:
    await keep(store, "The automobile stops.")
    await store.catch_up()
    changed = MilvusStorage(url, embedder=ConceptEmbedder(dimension=20))

    for call in (changed.catch_up(), changed.search("car", limit=1)):
        with pytest.raises(ConfigurationError, match=r"8 numbers.* makes 20"):
            await call
    await changed.aclose()
    assert len(await found(store, "car")) == 1


async def test_filters_and_tenants_hold_for_meaning_too(store: MilvusStorage, keep: Keep) -> None:
    run = await keep(store, "The automobile stops.")
    await keep(store.scoped("guest"), "The automobile stops.")
    await store.catch_up()

    assert await found(store, "car") == [run.run_id]
    moment = run.thoughts[0].created_at
    assert (await store.search("car", limit=9, only=Filters(until=moment))).hits == ()
    assert (await store.search("car", limit=9, only=Filters(passed=True))).hits == ()
    assert len((await store.search("car", limit=9, only=Filters(passed=False))).hits) == 1


@pytest.mark.servers
async def test_a_server_without_full_text_is_searched_by_meaning(
    keep: Keep, embedder: ConceptEmbedder
) -> None:
    store = MilvusStorage(server_2_3(), prefix="by_meaning", embedder=embedder)
    run = await keep(store, "The automobile stops.")
    await keep(store, "The physician smiles.")
    assert await store.catch_up() == 0

    hits = await store.search("car", limit=5)

    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "dense (no full text on this server)"
    await store.delete(run.run_id)
    assert (await store.search("car", limit=5)).hits == ()
    await store.aclose()
