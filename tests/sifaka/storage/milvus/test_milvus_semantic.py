"""Search by meaning, with a scripted embedder that knows a few synonyms."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from sifaka.record.run import Run
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
