"""Vectors, which are made after the versions were put."""

from collections.abc import Callable

import pytest

from sifaka.record.entries import Decided, Decision, Validated
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.protocol import Filters
from tests.stubs.elasticsearch_server import ElasticsearchServer
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
Made = Callable[..., Run]


async def found(index: ElasticsearchIndex, query: str) -> list[str]:
    return [hit.thought_id for hit in (await index.search(query, limit=9)).hits]


async def test_a_vector_outlives_a_change_of_its_document(
    semantic: ElasticsearchIndex, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run = drafted("An automobile.")
    await semantic.put(run)
    await semantic.catch_up()
    decided = Decided(thought_id="run_1.0", decision=Decision(accepted=True, by="person"))
    passing = {"length": ValidationResult(passed=True)}
    validated = Validated(thought_id="run_1.0", results=passing)
    await semantic.put(run.apply(validated).apply(decided))

    hits = await semantic.search("car", limit=5, only=Filters(passed=True))

    assert (len(hits.hits), hits.search, embedder.embedded) == (1, "hybrid", 2)


async def test_a_server_without_dense_vectors_is_searched_by_words(drafted: Made) -> None:
    server = ElasticsearchServer(vectors=False)
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder())
    run = drafted("A car.")
    await index.put(run)

    assert await index.catch_up() == 0
    hits = await index.search("car", limit=5)
    await index.aclose()
    server.stop()

    assert len(hits.hits) == 1
    assert hits.search.startswith("bm25 (semantic: the server keeps no vectors (")
    assert "dense_vector" in hits.search
