"""Search by words, and with an embedder by meaning too.

The two lists are fused here: the server's own `rrf` needs a licence.
"""

from collections.abc import Sequence
from typing import cast

from sifaka.errors import EmbeddingError
from sifaka.storage.bm25 import shorten
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.elasticsearch.queries import (
    CLOSE,
    OPEN,
    admitting,
    by_meaning,
    by_words,
    match_text,
)
from sifaka.storage.elasticsearch.vectors import Vectors
from sifaka.storage.embedding import embed_query, without_meaning
from sifaka.storage.fusion import fuse, fused_depth, hybrid_name
from sifaka.storage.index import Filters, Hit, Hits
from sifaka.storage.timestamps import from_microseconds

_MOST = 1000


async def search_versions(
    documents: Documents,
    vectors: Vectors | None,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
) -> Hits:
    """The versions that match a query, best first."""
    limit = min(limit, _MOST)
    filters = admitting(tenant, only)
    text = match_text(query)
    if not text and (vectors is None or not query.strip()):
        return Hits(hits=(), search="bm25")
    await documents.refresh(documents.address.versions)
    meant, search = await _meant(documents, vectors, query, filters, fused_depth(limit))
    size = limit if meant is None else fused_depth(limit)
    worded = await _found(documents, by_words(text, filters, size)) if text else []
    if meant is None:
        best = [(hit, cast("float", hit["sort"][0])) for hit in worded]
    else:
        # The ranking by words comes last: it knows what to highlight.
        hits = {hit["_id"]: hit for hit in (*meant, *worded)}
        ranks = fuse([hit["_id"] for hit in meant], [hit["_id"] for hit in worded])
        best = [(hits[doc_id], score) for doc_id, score in ranks]
    return Hits(hits=tuple(_hit(*each) for each in best[:limit]), search=search)


async def _meant(
    documents: Documents, vectors: Vectors | None, query: str, filters: Sequence[Json], size: int
) -> tuple[list[Json] | None, str]:
    """The versions close in meaning, None without vectors, and what to call the search."""
    if vectors is None or not query.strip():
        return None, "bm25"
    try:
        if not await vectors.prepare(documents):
            return None, f"bm25 (semantic: the server keeps no vectors ({vectors.lack}))"
        vector = await embed_query(vectors.embedder, query)
    except EmbeddingError as error:
        return None, f"bm25{without_meaning(error)}"
    meant = await _found(documents, by_meaning(vectors.name, vector, filters, size))
    counted = await documents.search(
        documents.address.versions,
        {
            "query": {"bool": {"filter": [filters[0], vectors.missing]}},
            "size": 0,
            "track_total_hits": True,
        },
    )
    return meant, hybrid_name(counted["total"]["value"])


async def _found(documents: Documents, request: Json) -> list[Json]:
    found = await documents.search(documents.address.versions, request)
    return cast("list[Json]", found["hits"])


def _hit(hit: Json, score: float) -> Hit:
    source = hit["_source"]
    return Hit(
        run_id=source["run_id"],
        thought_id=source["thought_id"],
        score=score,
        snippet=_snippet(hit),
        created_at=from_microseconds(source["created_at"]),
    )


def _snippet(hit: Json) -> str:
    fragments = hit.get("highlight", {})
    (fragment, *_) = fragments.get("text") or fragments.get("prompt") or [hit["_source"]["excerpt"]]
    return shorten(fragment.replace(OPEN, "**").replace(CLOSE, "**"))
