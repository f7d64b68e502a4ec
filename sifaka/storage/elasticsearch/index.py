"""The index of runs in Elasticsearch."""

import anyio

from sifaka.embeddings.protocol import Embedder
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.address import parse_store_url
from sifaka.storage.cursor import now_in_microseconds, to_microseconds
from sifaka.storage.elasticsearch.address import ELASTICSEARCH
from sifaka.storage.elasticsearch.connection import HttpConnection, Json
from sifaka.storage.elasticsearch.documents import Documents, create_index
from sifaka.storage.elasticsearch.search import analysed, search_versions
from sifaka.storage.elasticsearch.vectors import Vectors, embed_missing
from sifaka.storage.entry_json import decode_entries, encode_draft, run_key, whole_thoughts
from sifaka.storage.log import look_at
from sifaka.storage.protocol import ANY, Filters, Health, Hits
from sifaka.storage.store import TenantView

_MOST_READ = 10_000
"""The documents that a server gives at once."""
_HEALTH_SECONDS = 3.0


class ElasticsearchIndex(TenantView):
    """A `SearchIndex` in Elasticsearch 8 or 9; in OpenSearch without search by meaning.

    Words are found by the terms of `sifaka.text.search_terms`, as in every other store.

    Several processes may share it; the index is created on first use.

    Args:
        url: One of the forms of `sifaka.storage.elasticsearch.address.ELASTICSEARCH`.
        tenant: The tenant whose runs are seen.
        ttl: Seconds after the last `put` of a run that it is forgotten, instead of the URL's.
        embedder: Makes vectors, for search by meaning.

    Raises:
        ConfigurationError: The URL or the ttl cannot be.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default",
        ttl: float | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        address = parse_store_url(url, ELASTICSEARCH, ttl=ttl)
        self.tenant = tenant
        self._ttl = address.ttl
        self._connection = HttpConnection(address)
        self._documents = Documents(self._connection, address.prefix)
        self._vectors = Vectors(embedder) if embedder else None
        self._place = f"{self._connection.url} {address.prefix}"

    @property
    def place(self) -> str:
        """Its URL and the beginning of its name, without secrets."""
        return self._place

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable; the vector of one that has some stays."""
        ttl = self._ttl
        expires_at = now_in_microseconds() + round(ttl * 1_000_000) if ttl else None
        begin = 0 if ttl else first  # the whole run lives on
        changes: dict[str, Json] = {
            f"{run_key(self.tenant, run.run_id)}:{number}": {
                "doc": self._source(run, number, expires_at),
                "doc_as_upsert": True,
            }
            for number in range(begin, len(run.thoughts))
        }
        if changes:
            documents = await self._ready()
            with anyio.CancelScope(shield=True):
                await documents.update(changes)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to.
            StorageError: The server failed.
        """
        documents = await self._ready()
        return await search_versions(documents, self._vectors, self.tenant, query, limit, only)

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order."""
        documents = await self._ready()
        await documents.refresh()
        found = await documents.search(
            {
                "query": {"term": {"key": run_key(self.tenant, run_id)}},
                "sort": [{"number": "asc"}],
                "size": _MOST_READ,
                "_source": ["drafted"],
            }
        )
        drafted = decode_entries(run_id, (hit["_source"]["drafted"] for hit in found["hits"]))
        return whole_thoughts(run_id, drafted)

    async def drop(self, run_id: str) -> None:
        """Forget a run."""
        documents = await self._ready()
        with anyio.CancelScope(shield=True):
            await documents.delete_matching({"term": {"key": run_key(self.tenant, run_id)}})

    async def catch_up(self) -> int:
        """Forget what has outlived its time, and embed, of all tenants."""
        documents = await self._ready()
        expired = {"range": {"expires_at": {"lte": now_in_microseconds()}}}
        await documents.delete_matching(expired)
        await documents.expunge()
        return await embed_missing(documents, self._vectors) if self._vectors else 0

    async def health(self) -> tuple[Health, ...]:
        """What the server says of itself, and whether the index is there."""
        return (await look_at(f"elasticsearch {self.place}", self._look_at_server),)

    async def _look_at_server(self) -> str:
        send = self._connection.send
        said = (await send("GET", "/", seconds=_HEALTH_SECONDS)).checked().get("version", {})
        looked = await send("GET", f"/{self._documents.alias}", seconds=_HEALTH_SECONDS)
        found = f"{said.get('distribution', 'elasticsearch')} {said.get('number', '?')}"
        if looked.status == 404:
            return f"{found}, its index is created on first use"
        looked.checked()
        return found

    async def _release(self) -> None:
        await self._connection.aclose()

    async def _ready(self) -> Documents:
        """The documents, in an index that is there."""
        if not self._documents.ready:
            # Several tasks may come here at once: creating what is there changes nothing.
            await create_index(self._connection, self._documents.alias)
            self._documents.ready = True
        return self._documents

    def _source(self, run: Run, number: int, expires_at: int | None) -> Json:
        thought = run.thoughts[number]
        return {
            "tenant": self.tenant,
            "run_id": run.run_id,
            "key": run_key(self.tenant, run.run_id),
            "number": number,
            "thought_id": thought.id,
            "created_at": to_microseconds(thought.created_at),
            **({} if expires_at is None else {"expires_at": expires_at}),
            "passed": run.passed,
            "tags": list(run.tags),
            **analysed(thought.text, run.prompt),
            "text": thought.text,
            "prompt": run.prompt,
            "drafted": encode_draft(run.run_id, thought),
        }
