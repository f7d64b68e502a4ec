from collections.abc import AsyncGenerator, Callable, Generator

import pytest

from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.elasticsearch import ElasticsearchStorage
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.connection import Connection
from sifaka.storage.elasticsearch.documents import Documents
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
async def store(server: ElasticsearchServer) -> AsyncGenerator[ElasticsearchStorage]:
    """A store for words only, whose indices are there."""
    store = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}")
    await store.recent(limit=1)
    server.requests.clear()
    yield store
    await store.aclose()


@pytest.fixture
async def semantic(
    server: ElasticsearchServer, embedder: ConceptEmbedder
) -> AsyncGenerator[ElasticsearchStorage]:
    """A store for meaning too, in the same indices."""
    url = f"elasticsearch+http://{server.host}"
    store = ElasticsearchStorage.of_url(url, embedder=embedder)
    yield store
    await store.aclose()


@pytest.fixture
async def documents(server: ElasticsearchServer) -> AsyncGenerator[Documents]:
    """The server's documents as any other program sees them."""
    connection = Connection(Address.of_url(f"elasticsearch+http://{server.host}"))
    yield Documents(connection)
    await connection.aclose()


@pytest.fixture
def drafted() -> Callable[..., tuple[Run, tuple[Entry, ...]]]:
    """A run of some texts and its entries."""

    def make(
        *texts: str, run_id: str = "run_1", prompt: str = "", tags: tuple[str, ...] = ()
    ) -> tuple[Run, tuple[Entry, ...]]:
        started = Started(run_id=run_id, prompt=prompt, tags=tags)
        entries: list[Entry] = [started]
        for number, text in enumerate(texts):
            thought = Thought(run_id=run_id, prompt=prompt, iteration=number, text=text)
            entries.append(Drafted(thought=thought))
        return Run.replay(entries), tuple(entries)

    return make
