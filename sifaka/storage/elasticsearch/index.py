"""The index of runs in Elasticsearch, and the store that is searched in it."""

import json
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import anyio

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import SifakaError
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.cached import CachedStorage
from sifaka.storage.cursor import now_in_microseconds, to_microseconds
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.connection import HttpConnection, Json
from sifaka.storage.elasticsearch.documents import Documents, create_index
from sifaka.storage.elasticsearch.search import analysed, search_versions
from sifaka.storage.elasticsearch.vectors import Vectors, embed_missing
from sifaka.storage.entry_json import decode_entries, encode_draft, whole_thoughts
from sifaka.storage.log import Health
from sifaka.storage.protocol import ANY, Filters, Hits, ThoughtStore
from sifaka.storage.store import TenantView

_READ_AT_ONCE = 50
_HEALTH_SECONDS = 3.0


class ElasticsearchIndex(TenantView):
    """A `SearchIndex` in Elasticsearch 8 or 9; in OpenSearch without search by meaning.

    Words are found by the terms of `sifaka.text.terms`, as in every other store.

    Several processes may share it; the index is created on first use.

    Args:
        address: The server, and the name of the index.
        tenant: The tenant whose runs are seen.
        embedder: Makes vectors, for search by meaning.
    """

    def __init__(
        self, address: Address, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> None:
        self.address = address
        self.tenant = tenant
        self._connection = HttpConnection(address)
        self._documents = Documents(self._connection)
        self._vectors = Vectors(embedder) if embedder else None

    @classmethod
    def of_url(
        cls, url: str, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> "ElasticsearchIndex":
        """The index at a URL, see `Address.of_url`; nothing is asked of it yet.

        Raises:
            ConfigurationError: The URL is wrong.
        """
        return cls(Address.of_url(url), tenant=tenant, embedder=embedder)

    @property
    def place(self) -> str:
        """Its URL and the beginning of its name, without secrets."""
        return f"{self.address.url} {self.address.prefix}"

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable; the vector of one that has some stays."""
        ttl = self.address.ttl
        expires_at = now_in_microseconds() + ttl // timedelta(microseconds=1) if ttl else None
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
        await documents.refresh(self.address.versions)
        request: Json = {
            "query": {"term": {"key": run_key(self.tenant, run_id)}},
            "sort": [{"number": "asc"}],
            "size": _READ_AT_ONCE,
            "_source": ["prompt", "drafted"],
        }
        found: list[Json] = []
        while True:
            page = (await documents.search(self.address.versions, request))["hits"]
            found += page
            if len(page) < _READ_AT_ONCE:
                break
            request = {**request, "search_after": page[-1]["sort"]}
        drafted = decode_entries(run_id, (hit["_source"]["drafted"] for hit in found))
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
        """A line about the server, and with an embedder one about vectors."""
        server, send = f"elasticsearch {self.place}", self._connection.send
        try:
            said = await send("GET", "/", seconds=_HEALTH_SECONDS)
            version = said.checked().get("version", {})
            looked = await send("GET", f"/{self.address.versions}", seconds=_HEALTH_SECONDS)
            found = f"{version.get('distribution', 'elasticsearch')} {version.get('number', '?')}"
            if looked.status == 404:
                found += ", its index is created on first use"
            else:
                looked.checked()
        except SifakaError as error:
            return (Health(part=server, works=False, found=str(error)),)
        health = Health(part=server, works=True, found=found)
        return (health, await self._look_at(self._vectors)) if self._vectors else (health,)

    async def _release(self) -> None:
        await self._connection.aclose()

    async def _ready(self) -> Documents:
        """The documents, in an index that is there."""
        if not self._documents.ready:
            # Several tasks may come here at once: creating what is there changes nothing.
            await create_index(self._connection)
            self._documents.ready = True
        return self._documents

    async def _look_at(self, vectors: Vectors) -> Health:
        try:
            works = await vectors.prepare(await self._ready())
            found = "kept beside the texts" if works else f"the server keeps none: {vectors.lack}"
        except SifakaError as error:
            works, found = False, str(error)
        part = f"elasticsearch {self.place} vectors of {vectors.embedder.model_id}"
        return Health(part=part, works=works, found=found)

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


def run_key(tenant: str, run_id: str) -> str:
    """A run of a tenant as 64 hexadecimal digits: a server takes ids of 512 bytes."""
    # Half a surrogate pair is the id of no run, and is looked up like any other.
    return sha256(json.dumps([tenant, run_id]).encode()).hexdigest()


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
