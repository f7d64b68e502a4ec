"""Vectors, which are made after the versions were put."""

from collections.abc import Callable

import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Decided, Decision, Validated
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.index import Filters
from tests.stubs.elasticsearch_server import ElasticsearchServer
from tests.stubs.embedders import ConceptEmbedder, PickyEmbedder

pytestmark = pytest.mark.anyio
Made = Callable[..., Run]


async def found(index: ElasticsearchIndex, query: str) -> list[str]:
    return [hit.thought_id for hit in (await index.search(query, limit=9)).hits]


async def test_vectors_are_made_later_and_found_by_meaning(
    semantic: ElasticsearchIndex, drafted: Made
) -> None:
    for number, text in enumerate(["The automobile is red.", "A physician called.", "Nothing."]):
        run = drafted(text, run_id=f"run_{number}")
        await semantic.put(run)
    before = await semantic.search("car", limit=5)
    assert (before.hits, before.search) == ((), "hybrid (3 versions are not embedded yet)")

    assert await semantic.catch_up() == 0

    hits = await semantic.search("car", limit=5)
    assert hits.search == "hybrid"
    assert [(hit.run_id, hit.snippet) for hit in hits.hits] == [("run_0", "The automobile is red.")]
    both = await semantic.search("car red physician", limit=5)
    assert {hit.run_id for hit in both.hits} == {"run_0", "run_1"}


async def test_more_texts_than_a_batch_are_embedded_bit_by_bit(
    semantic: ElasticsearchIndex, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run = drafted(*(f"car number {n}" for n in range(100)))
    await semantic.put(run)

    assert await semantic.catch_up() == 36
    assert await semantic.catch_up() == 0
    assert embedder.batches == [64, 36]
    assert await semantic.catch_up() == 0
    assert embedder.embedded == 100


async def test_a_vector_outlives_a_change_of_its_document(
    semantic: ElasticsearchIndex, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run = drafted("An automobile.")
    await semantic.put(run)
    await semantic.catch_up()
    decided = Decided(thought_id="run_1.0", decision=Decision(accepted=True, reason=""))
    passing = {"length": ValidationResult(passed=True)}
    validated = Validated(thought_id="run_1.0", results=passing)
    await semantic.put(run.apply(validated).apply(decided))

    hits = await semantic.search("car", limit=5, only=Filters(passed=True))

    assert (len(hits.hits), hits.search, embedder.embedded) == (1, "hybrid", 2)


async def test_another_models_vectors_are_never_compared(
    server: ElasticsearchServer, semantic: ElasticsearchIndex, drafted: Made
) -> None:
    run = drafted("An automobile.")
    await semantic.put(run)
    await semantic.catch_up()
    other = ElasticsearchIndex.of_url(
        f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder("concepts:2", dimension=12)
    )

    hits = await other.search("car", limit=5)
    assert (hits.hits, hits.search) == ((), "hybrid (1 version is not embedded yet)")
    await other.catch_up()
    assert len((await other.search("car", limit=5)).hits) == 1
    assert len((await semantic.search("car", limit=5)).hits) == 1
    await other.aclose()


async def test_the_same_model_with_another_dimension_is_refused(
    server: ElasticsearchServer, semantic: ElasticsearchIndex
) -> None:
    await semantic.search("car", limit=1)
    other = ElasticsearchIndex.of_url(
        f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder(dimension=12)
    )

    with pytest.raises(ConfigurationError, match="dimension mismatch"):
        await other.search("car", limit=1)
    await other.aclose()


async def test_without_the_model_words_are_searched(
    semantic: ElasticsearchIndex, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run = drafted("A car.")
    await semantic.put(run)
    embedder.failure = "out of memory"

    hits = await semantic.search("car", limit=5)

    assert (len(hits.hits), hits.search) == (1, "bm25 (semantic: failed (out of memory))")
    with pytest.raises(StorageError, match="out of memory") as caught:
        await semantic.catch_up()
    assert caught.value.retryable


async def test_a_server_without_dense_vectors_is_searched_by_words(drafted: Made) -> None:
    server = ElasticsearchServer(vectors=False)
    index = ElasticsearchIndex.of_url(
        f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder()
    )
    run = drafted("A car.")
    await index.put(run)

    assert await index.catch_up() == 0
    hits = await index.search("car", limit=5)
    _, vectors = await index.health()
    await index.aclose()
    server.stop()

    assert len(hits.hits) == 1
    assert hits.search.startswith("bm25 (semantic: the server keeps no vectors (")
    assert "dense_vector" in hits.search
    assert not vectors.works


async def test_a_text_that_the_model_refuses_holds_up_no_other_and_is_not_tried_again(
    server: ElasticsearchServer, drafted: Made
) -> None:
    embedder = PickyEmbedder()
    index = ElasticsearchIndex.of_url(f"elasticsearch+http://{server.host}", embedder=embedder)
    run = drafted("vehicle " * 400, "An automobile.")
    await index.put(run)

    assert await index.catch_up() == 0
    asked = len(embedder.batches)
    assert await index.catch_up() == 0

    assert await found(index, "motorcar") == [run.thoughts[1].id]
    assert len(embedder.batches) == asked + 1, "only the query was embedded"
    await index.aclose()
