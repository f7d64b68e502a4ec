"""Search by words, and with an embedder by meaning too, in Elasticsearch's query language.

The two lists are fused here: the server's own `rrf` needs a licence.

https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
https://www.elastic.co/docs/solutions/search/vector/knn
"""

from collections.abc import Sequence
from typing import cast

from sifaka.embeddings.protocol import Vector
from sifaka.storage.bm25 import query_words, shorten, snippet
from sifaka.storage.cursor import from_microseconds, now_in_microseconds, to_microseconds
from sifaka.storage.elasticsearch.connection import Json
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.elasticsearch.vectors import Vectors
from sifaka.storage.embedding import embed_words, fuse, fused_depth, hybrid_name
from sifaka.storage.protocol import Filters, Hit, Hits
from sifaka.text.search_terms import language_of, query_terms, text_terms

_SHOWN = ["run_id", "thought_id", "created_at", "text", "prompt"]
_RELATED = 0.0002
"""A cosine a hair above that of vectors at right angles, which have nothing in common."""
_CANDIDATES = 100
_BEGINNING = 1000
_MOST_FORMS = 400
"""A server takes 1,024 clauses at least, and looks for each form in two fields."""


def analysed(text: str, prompt: str) -> Json:
    """The fields by which a version is found."""
    language = language_of(text, prompt)
    return {
        "text_terms": " ".join(text_terms(text, language)),
        "prompt_terms": " ".join(text_terms(prompt, language)),
    }


def admitting(tenant: str, only: Filters) -> list[Json]:
    """The filters of a search."""
    since, until = only.since, only.until
    written: Json = {
        **({"gte": to_microseconds(since)} if since else {}),
        **({"lt": to_microseconds(until)} if until else {}),
    }
    return [
        {"term": {"tenant": tenant}},
        {"bool": {"must_not": [{"range": {"expires_at": {"lte": now_in_microseconds()}}}]}},
        *([{"range": {"created_at": written}}] if written else []),
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
        "_source": _SHOWN,
        "track_total_hits": False,
    }


def by_meaning(field: str, vector: Vector, filters: Sequence[Json], size: int) -> Json:
    """The versions whose vectors are closest to the query's."""
    return {
        "knn": {
            "field": field,
            "query_vector": list(vector),
            "k": size,
            "num_candidates": max(_CANDIDATES, 2 * size),
            "similarity": _RELATED,
            "filter": list(filters),
        },
        "size": size,
        "_source": _SHOWN,
        "track_total_hits": False,
    }


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
    words = query_words(query)
    forms = [form for each in query_terms(words) for form in sorted(each)]
    text = " ".join(forms[:_MOST_FORMS])
    if not text:
        return Hits(hits=(), search="bm25")
    await documents.refresh()
    meant, search = await _meant(documents, vectors, query, filters, fused_depth(limit))
    size = limit if meant is None else fused_depth(limit)
    worded = await _found(documents, by_words(text, filters, size))
    if meant is None:
        best = [(hit, cast("float", hit["sort"][0])) for hit in worded]
    else:
        hits = {hit["_id"]: hit for hit in (*meant, *worded)}
        ranks = fuse([hit["_id"] for hit in meant], [hit["_id"] for hit in worded])
        best = [(hits[doc_id], score) for doc_id, score in ranks]
    return Hits(
        hits=tuple(_hit(*each, words) for each in best[:limit]),
        search=search,
    )


async def _meant(
    documents: Documents, vectors: Vectors | None, query: str, filters: Sequence[Json], size: int
) -> tuple[list[Json] | None, str]:
    """The versions close in meaning, None without vectors, and what to call the search."""
    if vectors is None:
        return None, "bm25"
    vector, failed = None, ""
    if vectors.lack is None:
        vector, failed = await embed_words(vectors.embedder, query)
    if vector is not None:
        await vectors.prepare(documents, len(vector))
    if vectors.lack is not None:
        return None, f"bm25 (semantic: the server keeps no vectors ({vectors.lack}))"
    if vector is None:
        return None, f"bm25{failed}"
    meant = await _found(documents, by_meaning(vectors.name, vector, filters, size))
    counted = await documents.search(
        {
            "query": {"bool": {"filter": [filters[0], vectors.missing]}},
            "size": 0,
            "track_total_hits": True,
        }
    )
    return meant, hybrid_name(counted["total"]["value"])


async def _found(documents: Documents, request: Json) -> list[Json]:
    found = await documents.search(request)
    return cast("list[Json]", found["hits"])


def _hit(hit: Json, score: float, words: Sequence[str]) -> Hit:
    source = hit["_source"]
    fields: tuple[str, str] = (source["text"], source["prompt"])
    return Hit(
        run_id=source["run_id"],
        thought_id=source["thought_id"],
        score=score,
        snippet=snippet(words, fields) or shorten((fields[0] or fields[1])[:_BEGINNING]),
        created_at=from_microseconds(source["created_at"]),
    )
