"""Runs in Elasticsearch: for those who have one, in place of Redis or Milvus."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

import anyio

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.append import append_entries
from sifaka.storage.elasticsearch.connection import Connection
from sifaka.storage.elasticsearch.delete import delete_run, sweep
from sifaka.storage.elasticsearch.health import look
from sifaka.storage.elasticsearch.index import index_missing, index_versions
from sifaka.storage.elasticsearch.read import held_run, read_payloads, read_run
from sifaka.storage.elasticsearch.recent import list_recent, read_cursor_key
from sifaka.storage.elasticsearch.records import run_key
from sifaka.storage.elasticsearch.search import search_versions
from sifaka.storage.elasticsearch.shared import Shared
from sifaka.storage.elasticsearch.vectors import embed_missing
from sifaka.storage.entry_json import decode_entries, encode_entries
from sifaka.storage.follow import follow_by_looking
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage

logger = logging.getLogger(__name__)


class ElasticsearchStorage:
    """A `ThoughtStore` in Elasticsearch 8 or 9; in OpenSearch without search by meaning.

    An append that has returned is as durable as the server's indices are. Several processes may
    share them; the indices are created on first use.

    Args:
        address: Where the server is, and which indices are used.
        tenant: Whose runs are seen.
        embedder: Makes vectors, for search by meaning.
        shared: What the views of one store have in common, for a view of one that is there.
    """

    def __init__(
        self,
        address: Address,
        *,
        tenant: str = "default",
        embedder: Embedder | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.address = address
        self.tenant = tenant
        self._owned = shared is None
        self._shared = shared or Shared.of(Connection(address), embedder)

    @classmethod
    def of_url(
        cls, url: str, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> "ElasticsearchStorage":
        """The store at a URL, see `Address.of_url`; nothing is asked of it yet.

        Raises:
            ConfigurationError: The URL is wrong.
        """
        return cls(Address.of_url(url), tenant=tenant, embedder=embedder)

    @property
    def place(self) -> str:
        """Its URL and what its indices begin with, without secrets."""
        return f"{self.address.url} {self.address.prefix}"

    @property
    def degraded(self) -> tuple[str, ...]:
        """Nothing: what cannot be written is refused, what cannot be searched yet is caught up."""
        return ()

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none, then findable; see `ThoughtStore.append`."""
        kept = tuple(entries)
        payloads = encode_entries(run, kept, expected_version)
        documents = await self._shared.ready()
        with anyio.CancelScope(shield=True):
            done = await append_entries(
                documents, self.tenant, run, kept, payloads, expected_version, fence
            )
            if done is None or done.held.record.indexed:
                return
            try:
                await index_versions(documents, done.held, run, first=done.first)
            except StorageError as error:
                # The entries are durable; `catch_up` finds that this is left to do.
                logger.warning("run %r is not searchable yet: %s", run.run_id, error)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        documents = await self._shared.ready()
        while True:
            held = await held_run(documents, self.tenant, run_id)
            claimed = replace(held.record, fence=held.record.fence + 1)
            if await held.replaced(documents, claimed):
                return claimed.fence

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        documents = await self._shared.ready()
        held = await held_run(documents, self.tenant, run_id)
        return await read_run(documents, held.record)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`."""
        documents = await self._shared.ready()

        async def read(known: int) -> Sequence[Entry]:
            held = await held_run(documents, self.tenant, run_id)
            payloads = await read_payloads(documents, held.record, after=known)
            return tuple(decode_entries(run_id, payloads, after=known))

        async with aclosing(follow_by_looking(run_id, read, after=after)) as steps:
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        documents = await self._shared.ready()
        key = await read_cursor_key(documents)
        return await list_recent(documents, key, self.tenant, limit, cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Plurals are folded, words are otherwise not stemmed.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to.
            StorageError: The server failed.
        """
        documents = await self._shared.ready()
        return await search_versions(
            documents, self._shared.vectors, self.tenant, query, limit, only
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON."""
        documents = await self._shared.ready()
        return (await held_run(documents, self.tenant, run_id)).record.size

    async def delete(self, run_id: str) -> None:
        """Forget a run with what the index holds of it."""
        documents = await self._shared.ready()
        with anyio.CancelScope(shield=True):
            await delete_run(documents, run_key(self.tenant, run_id))

    async def catch_up(self) -> int:
        """Forget what has outlived its time, index what an append could not, embed, of all tenants.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to.
            StorageError: The server or the embedder failed.
        """
        documents = await self._shared.ready()
        await documents.refresh(self.address.runs, self.address.thoughts)
        left = await sweep(documents) + await index_missing(documents)
        vectors = self._shared.vectors
        return left + (await embed_missing(documents, vectors) if vectors else 0)

    async def health(self) -> tuple[Health, ...]:
        """Whether the server answers and takes requests, and what becomes of vectors."""
        return await look(self._shared)

    def scoped(self, tenant: str) -> "ElasticsearchStorage":
        """The same indices as another tenant sees them, over the same connections."""
        return ElasticsearchStorage(self.address, tenant=tenant, shared=self._shared)

    async def aclose(self) -> None:
        """Close the connections, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self._shared.connection.aclose()
