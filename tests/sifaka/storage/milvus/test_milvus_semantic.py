"""Search by meaning, with a scripted embedder that knows a few synonyms."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.index import Filters
from sifaka.storage.milvus import MilvusIndex
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.milvus_server import server_2_3

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


@pytest.fixture
async def index(url: str, embedder: ConceptEmbedder) -> AsyncGenerator[MilvusIndex]:
    index = MilvusIndex(url, embedder=embedder)
    yield index
    await index.aclose()


async def found(index: MilvusIndex, query: str) -> list[str]:
    return [hit.run_id for hit in (await index.search(query, limit=9)).hits]


async def test_a_synonym_is_found_once_it_has_a_vector(index: MilvusIndex, keep: Keep) -> None:
    car = await keep(index, "The automobile stops.")
    await keep(index, "The physician smiles.")
    before = await index.search("car", limit=5)
    assert (before.hits, before.search) == ((), "hybrid (2 versions are not embedded yet)")

    assert await index.catch_up() == 0

    hits = await index.search("car", limit=5)
    assert hits.search == "hybrid"
    (hit,) = hits.hits
    assert (hit.run_id, hit.thought_id) == (car.run_id, car.thoughts[0].id)
    assert hit.snippet == "The automobile stops."


async def test_words_and_meaning_together_come_before_either(
    index: MilvusIndex, keep: Keep
) -> None:
    meaning = await keep(index, "The physician smiles.")
    both = await keep(index, "The doctor waits.")
    words = await keep(index, "Doctor no automobile car vehicle motorcar vehicle car.")
    await index.catch_up()

    ids = await found(index, "doctor")

    assert ids[0] == both.run_id
    assert set(ids) == {both.run_id, meaning.run_id, words.run_id}


async def test_a_put_does_not_wait_for_the_model(
    index: MilvusIndex, keep: Keep, embedder: ConceptEmbedder
) -> None:
    embedder.failure = "the model is away"
    run = await keep(index, "The automobile stops.")

    hits = await index.search("stops", limit=5)
    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25 (semantic: failed (the model is away))"
    with pytest.raises(StorageError, match="the model is away") as caught:
        await index.catch_up()
    assert caught.value.retryable

    embedder.failure = None
    assert await index.catch_up() == 0
    assert await found(index, "car") == [run.run_id]


async def test_64_versions_are_embedded_at_a_time_and_none_twice(
    index: MilvusIndex, embedder: ConceptEmbedder
) -> None:
    started = Started(run_id="long")
    run = Run.start(started)
    entries = [
        Drafted(thought=Thought(run_id="long", iteration=n, text="A car.")) for n in range(70)
    ]
    for entry in entries:
        run = run.apply(entry)
    await index.put(run)

    assert [await index.catch_up() for _ in range(3)] == [6, 0, 0]
    assert embedder.batches == [64, 6]


async def test_another_process_finds_what_has_no_vector_yet(
    url: str, keep: Keep, embedder: ConceptEmbedder
) -> None:
    writer = MilvusIndex(url)
    run = await keep(writer, "The automobile stops.")
    await writer.aclose()

    reader = MilvusIndex(url, embedder=embedder)
    assert await reader.catch_up() == 0
    assert await found(reader, "car") == [run.run_id]
    await reader.aclose()


async def test_the_vectors_of_two_models_are_never_mixed(
    url: str, index: MilvusIndex, keep: Keep
) -> None:
    run = await keep(index, "The automobile stops.")
    await index.catch_up()
    other = MilvusIndex(url, embedder=ConceptEmbedder("concepts:2", dimension=20))

    assert await found(other, "car") == []
    assert await other.catch_up() == 0
    assert await found(other, "car") == [run.run_id]
    assert await found(index, "car") == [run.run_id]
    await other.drop(run.run_id)
    assert await found(index, "car") == []
    await other.aclose()


async def test_a_model_that_changed_its_dimension_is_refused(
    url: str, index: MilvusIndex, keep: Keep
) -> None:
    await keep(index, "The automobile stops.")
    await index.catch_up()
    changed = MilvusIndex(url, embedder=ConceptEmbedder(dimension=20))

    for call in (changed.catch_up(), changed.search("car", limit=1)):
        with pytest.raises(ConfigurationError, match=r"8 numbers.* makes 20"):
            await call
    await changed.aclose()
    assert len(await found(index, "car")) == 1


async def test_filters_and_tenants_hold_for_meaning_too(index: MilvusIndex, keep: Keep) -> None:
    run = await keep(index, "The automobile stops.")
    await keep(index.scoped("guest"), "The automobile stops.")
    await index.catch_up()

    assert await found(index, "car") == [run.run_id]
    moment = run.thoughts[0].created_at
    assert (await index.search("car", limit=9, only=Filters(until=moment))).hits == ()
    assert (await index.search("car", limit=9, only=Filters(passed=True))).hits == ()
    assert len((await index.search("car", limit=9, only=Filters(passed=False))).hits) == 1


@pytest.mark.servers
async def test_a_server_without_full_text_is_searched_by_meaning(
    keep: Keep, embedder: ConceptEmbedder
) -> None:
    index = MilvusIndex(server_2_3(), prefix="by_meaning", embedder=embedder)
    run = await keep(index, "The automobile stops.")
    await keep(index, "The physician smiles.")
    assert await index.catch_up() == 0

    hits = await index.search("car", limit=5)

    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "dense (no full text on this server)"
    await index.drop(run.run_id)
    assert (await index.search("car", limit=5)).hits == ()
    await index.aclose()
