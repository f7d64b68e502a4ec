from collections.abc import AsyncGenerator, Callable, Generator

import pytest

from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.elasticsearch import ElasticsearchIndex
from tests.stubs.elasticsearch_server import ElasticsearchServer
from tests.stubs.embedders import ConceptEmbedder


@pytest.fixture
def server() -> Generator[ElasticsearchServer]:
    server = ElasticsearchServer()
    yield server
    server.stop()


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


@pytest.fixture
async def index(server: ElasticsearchServer) -> AsyncGenerator[ElasticsearchIndex]:
    """A index for words only, whose indices are there."""
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}")
    await index.search("word", limit=1)
    server.requests.clear()
    yield index
    await index.aclose()


@pytest.fixture
async def semantic(
    server: ElasticsearchServer, embedder: ConceptEmbedder
) -> AsyncGenerator[ElasticsearchIndex]:
    """A index for meaning too, in the same indices."""
    url = f"elasticsearch+http://{server.host}"
    index = ElasticsearchIndex(url, embedder=embedder)
    yield index
    await index.aclose()


@pytest.fixture
def drafted() -> Callable[..., Run]:
    """A run of some texts."""

    def make(
        *texts: str, run_id: str = "run_1", prompt: str = "", tags: tuple[str, ...] = ()
    ) -> Run:
        started = Started(run_id=run_id, prompt=prompt, tags=tags)
        entries: list[Entry] = [started]
        for number, text in enumerate(texts):
            thought = Thought(run_id=run_id, prompt=prompt, iteration=number, text=text)
            entries.append(Drafted(thought=thought))
        return Run.replay(entries)

    return make
