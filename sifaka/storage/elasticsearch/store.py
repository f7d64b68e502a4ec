"""A store whose runs are searched in Elasticsearch."""

from pathlib import Path

from sifaka.embeddings.protocol import Embedder
from sifaka.storage.cached import CachedStorage
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.index import ElasticsearchIndex
from sifaka.storage.protocol import ThoughtStore


class ElasticsearchStorage(CachedStorage):
    """A `ThoughtStore` of a log, and an `ElasticsearchIndex` in which it is searched.

    Args:
        address: Where the server is, and which index is used.
        log: Holds the runs.
        tenant: The tenant whose runs are seen.
        embedder: Makes vectors, for search by meaning.
        queue: The file in which runs wait for the index; without one they wait in memory.
    """

    def __init__(
        self,
        address: Address,
        *,
        log: ThoughtStore,
        tenant: str = "default",
        embedder: Embedder | None = None,
        queue: str | Path | None = None,
    ) -> None:
        self.address = address
        index = ElasticsearchIndex(address, embedder=embedder)
        super().__init__(log, index, queue=queue, tenant=tenant)
