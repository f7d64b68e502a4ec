"""The index of runs in Elasticsearch: search by words, and with an embedder by meaning too.

Each model has a field for its vectors, so none are mixed. The two lists are fused here: the
server's own `rrf` needs a licence.

https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
https://www.elastic.co/docs/solutions/search/vector/knn
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import cast

import anyio

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.errors import ConfigurationError
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.address import ELASTICSEARCH, parse_store_url
from sifaka.storage.bm25 import hit_of, query_words
from sifaka.storage.cursor import from_microseconds, now_in_microseconds, to_microseconds
from sifaka.storage.elasticsearch.connection import ElasticsearchConnection, Json
from sifaka.storage.embedding import (
    embed_documents,
    embed_words,
    embedding_failures,
    fuse,
    fused_depth,
    hybrid_name,
    meaning,
)
from sifaka.storage.entry_json import decode_entries, encode_draft, run_key, whole_thoughts
from sifaka.storage.log import look_at
from sifaka.storage.protocol import ANY, Filters, Health, Hit, Hits
from sifaka.storage.store import TenantView
from sifaka.text.search_terms import language_of, query_terms, text_terms


@dataclass(slots=True, eq=False)
class Vectors:
    """The vectors of one model."""

    embedder: Embedder
    lack: str | None = field(default=None, init=False)
    """The reason for which the server keeps none, once that is known."""
    refused: set[str] = field(default_factory=set[str], init=False)
    """Documents that the model does not embed; another process tries them once more."""
    _ready: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """The field they are in."""
        return f"vector_{sha256(self.embedder.model_id.encode()).hexdigest()[:16]}"

    @property
    def missing(self) -> Json:
        """The query for the versions that have none yet."""
        return {"bool": {"must_not": [{"exists": {"field": self.name}}]}}

    async def prepare(self, server: ElasticsearchConnection, dimension: int) -> bool:
        """Add the field to the index, once; whether the server can keep vectors at all.

        Raises:
            ConfigurationError: It has vectors of another dimension.
            StorageError: The server failed.
        """
        if self._ready or self.lack is not None:
            return self._ready
        layout = {"type": "dense_vector", "dims": dimension, "index": True, "similarity": "cosine"}
        answer = await server.send(
            "PUT", f"/{server.alias}/_mapping", {"properties": {self.name: layout}}
        )
        if answer.status == 400 and "[dims]" in answer.reason:
            raise ConfigurationError(
                f"dimension mismatch: the stored vectors of {self.embedder.model_id!r} have "
                f"another number of dimensions than the model makes, {dimension}",
                "embed with the model as it was, or give this one another id",
            )
        if answer.status == 400:
            # OpenSearch has another type for vectors, and no `knn` beside `query`.
            self.lack = answer.reason
            return False
        answer.checked()
        self._ready = True
        return True


async def embed_missing(server: ElasticsearchConnection, vectors: Vectors) -> int:
    """Embed some versions that have no vector yet, of all tenants; how many are left."""
    with embedding_failures():
        if not await vectors.prepare(server, await vectors.embedder.dimension()):
            return 0
        hits = await server.search(
            {
                "query": vectors.missing,
                "size": 64 + len(vectors.refused),
                "_source": ["text", "prompt"],
                "track_total_hits": True,
            }
        )
        lacking = [hit for hit in hits["hits"] if hit["_id"] not in vectors.refused]
        texts = {
            hit["_id"]: meaning(hit["_source"]["prompt"], hit["_source"]["text"]) for hit in lacking
        }
        # Of nothing there is no vector.
        embedded = await embed_documents(
            vectors.embedder, {doc_id: text for doc_id, text in texts.items() if text}
        )
    vectors.refused |= texts.keys() - embedded.keys()
    await server.update(
        {doc_id: {"doc": {vectors.name: list(vector)}} for doc_id, vector in embedded.items()},
        tolerated=frozenset({404}),  # deleted meanwhile
    )
    return hits["total"]["value"] - len(hits["hits"])


_HIT_FIELDS = ["run_id", "thought_id", "created_at", "text", "prompt"]
_RELATED = 0.0002
"""A cosine a hair above that of vectors at right angles, which have nothing in common."""
_MOST_FORMS = 400
"""A server takes 1,024 clauses at least, and looks for each form in two fields."""


def admitting(tenant: str, only: Filters) -> list[Json]:
    """The filters of a search."""
    since, until = only.since, only.until
    period: Json = {
        **({"gte": to_microseconds(since)} if since else {}),
        **({"lt": to_microseconds(until)} if until else {}),
    }
    return [
        {"term": {"tenant": tenant}},
        {"bool": {"must_not": [{"range": {"expires_at": {"lte": now_in_microseconds()}}}]}},
        *([{"range": {"created_at": period}}] if period else []),
        *([{"term": {"passed": only.passed}}] if only.passed is not None else []),
        # Half a surrogate pair is no text that could be sent, and in no tag.
        *({"term": {"tags": tag.encode(errors="replace").decode()}} for tag in only.tags),
    ]


def by_words(terms: str, filters: Sequence[Json], size: int) -> Json:
    """The versions with any of the terms, by BM25; the task counts half."""
    return {
        "query": {
            "bool": {
                "must": [
                    {
                        "multi_match": {
                            "query": terms,
                            "fields": ["text_terms", "prompt_terms^0.5"],
                            "type": "most_fields",
                        }
                    }
                ],
                "filter": list(filters),
            }
        },
        # Equal ones in an order of their own, so that a shorter answer begins like a longer one.
        "sort": [{"_score": "desc"}, {"created_at": "desc"}, {"key": "desc"}],
        "size": size,
        "_source": _HIT_FIELDS,
        "track_total_hits": False,
    }


def by_meaning(field: str, vector: Vector, filters: Sequence[Json], size: int) -> Json:
    """The versions whose vectors are closest to the query's."""
    return {
        "knn": {
            "field": field,
            "query_vector": list(vector),
            "k": size,
            "num_candidates": max(100, 2 * size),
            "similarity": _RELATED,
            "filter": list(filters),
        },
        "size": size,
        "_source": _HIT_FIELDS,
        "track_total_hits": False,
    }


async def search_versions(
    server: ElasticsearchConnection,
    vectors: Vectors | None,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
) -> Hits:
    """The versions that match a query, best first."""
    limit = min(limit, 1000)
    filters = admitting(tenant, only)
    words = query_words(query)
    forms = [form for each in query_terms(words) for form in sorted(each)]
    text = " ".join(forms[:_MOST_FORMS])
    if not text:
        return Hits(hits=(), search="bm25")
    await server.refresh()
    semantic, search = await _search_by_meaning(server, vectors, query, filters, fused_depth(limit))
    size = limit if semantic is None else fused_depth(limit)
    lexical = (await server.search(by_words(text, filters, size)))["hits"]
    if semantic is None:
        best = [(hit, cast("float", hit["sort"][0])) for hit in lexical]
    else:
        hits = {hit["_id"]: hit for hit in (*semantic, *lexical)}
        ranks = fuse([hit["_id"] for hit in semantic], [hit["_id"] for hit in lexical])
        best = [(hits[doc_id], score) for doc_id, score in ranks]
    return Hits(
        hits=tuple(_build_hit(*each, words) for each in best[:limit]),
        search=search,
    )


async def _search_by_meaning(
    server: ElasticsearchConnection,
    vectors: Vectors | None,
    query: str,
    filters: Sequence[Json],
    size: int,
) -> tuple[list[Json] | None, str]:
    """The versions close in meaning, None without vectors, and what to call the search."""
    if vectors is None:
        return None, "bm25"
    vector, failed = None, ""
    if vectors.lack is None:
        vector, failed = await embed_words(vectors.embedder, query)
    if vector is not None:
        await vectors.prepare(server, len(vector))
    if vectors.lack is not None:
        return None, f"bm25 (semantic: the server keeps no vectors ({vectors.lack}))"
    if vector is None:
        return None, f"bm25{failed}"
    nearest = await server.search(by_meaning(vectors.name, vector, filters, size))
    counted = await server.search(
        {
            "query": {"bool": {"filter": [filters[0], vectors.missing]}},
            "size": 0,
            "track_total_hits": True,
        }
    )
    return nearest["hits"], hybrid_name(counted["total"]["value"])


def _build_hit(hit: Json, score: float, words: Sequence[str]) -> Hit:
    source = hit["_source"]
    fields = (source[name] for name in ("run_id", "thought_id", "text", "prompt"))
    return hit_of(words, score, from_microseconds(source["created_at"]), *fields)


_HEALTH_SECONDS = 3.0


class ElasticsearchIndex(TenantView):
    """A `SearchIndex` in Elasticsearch 8 or 9; in OpenSearch without search by meaning.

    Words are found by the terms of `sifaka.text.search_terms`, as in every other store.

    Several processes may share it; the index is created on first use.

    Args:
        url: One of the forms of `sifaka.storage.address.ELASTICSEARCH`.
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
        self._ttl = address.ttl
        self._server = ElasticsearchConnection(address)
        self._vectors = Vectors(embedder) if embedder else None
        super().__init__(f"{self._server.url} {address.prefix}", tenant, self._server.aclose)

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable; the vector of one that has some stays."""
        ttl = self._ttl
        expires_at = now_in_microseconds() + round(ttl * 1_000_000) if ttl else None
        begin = 0 if ttl else first  # the whole run lives on
        changes: dict[str, Json] = {
            f"{run_key(self.tenant, run.run_id)}:{number}": {
                "doc": self._build_document(run, number, expires_at),
                "doc_as_upsert": True,
            }
            for number in range(begin, len(run.thoughts))
        }
        if changes:
            await self._server.ensure_index()
            with anyio.CancelScope(shield=True):
                await self._server.update(changes)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to.
            StorageError: The server failed.
        """
        await self._server.ensure_index()
        return await search_versions(self._server, self._vectors, self.tenant, query, limit, only)

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order."""
        await self._server.ensure_index()
        await self._server.refresh()
        answer = await self._server.search(
            {
                "query": {"term": {"key": run_key(self.tenant, run_id)}},
                "sort": [{"number": "asc"}],
                "size": 10_000,  # no server gives more at once
                "_source": ["drafted"],
            }
        )
        drafted = decode_entries(run_id, (hit["_source"]["drafted"] for hit in answer["hits"]))
        return whole_thoughts(run_id, drafted)

    async def drop(self, run_id: str) -> None:
        """Forget a run."""
        await self._server.ensure_index()
        with anyio.CancelScope(shield=True):
            await self._server.delete_matching({"term": {"key": run_key(self.tenant, run_id)}})

    async def catch_up(self) -> int:
        """Forget what has outlived its time, and embed, of all tenants."""
        server = self._server
        await server.ensure_index()
        expired = {"range": {"expires_at": {"lte": now_in_microseconds()}}}
        await server.delete_matching(expired)
        await server.expunge()
        return await embed_missing(server, self._vectors) if self._vectors else 0

    async def health(self) -> tuple[Health, ...]:
        """What the server says of itself, and whether the index is there."""
        return (await look_at(f"elasticsearch {self.place}", self._look_at_server),)

    async def _look_at_server(self) -> str:
        send = self._server.send
        version = (await send("GET", "/", seconds=_HEALTH_SECONDS)).checked().get("version", {})
        answer = await send("GET", f"/{self._server.alias}", seconds=_HEALTH_SECONDS)
        summary = f"{version.get('distribution', 'elasticsearch')} {version.get('number', '?')}"
        if answer.status == 404:
            return f"{summary}, its index is created on first use"
        answer.checked()
        return summary

    def _build_document(self, run: Run, number: int, expires_at: int | None) -> Json:
        thought = run.thoughts[number]
        language = language_of(thought.text, run.prompt)
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
            "text_terms": " ".join(text_terms(thought.text, language)),
            "prompt_terms": " ".join(text_terms(run.prompt, language)),
            "text": thought.text,
            "prompt": run.prompt,
            "drafted": encode_draft(run.run_id, thought),
        }
