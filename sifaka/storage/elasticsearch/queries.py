"""The searches for versions, as Elasticsearch's query language says them.

https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
https://www.elastic.co/docs/solutions/search/vector/knn
"""

import unicodedata
from collections.abc import Sequence

from sifaka.embeddings.protocol import Vector
from sifaka.storage.bm25 import query_words
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.index import Filters
from sifaka.storage.timestamps import now_in_microseconds, to_microseconds

OPEN, CLOSE = "\ue000", "\ue001"
"""Around what matches: characters for private use, which texts hardly contain."""
_SHOWN = ["run_id", "thought_id", "created_at", "excerpt"]
_RELATED = 0.0002
"""A cosine a hair above that of vectors at right angles, which have nothing in common."""
_CANDIDATES = 100
_WORD_CHARS = 255
"""The standard tokenizer cuts what is longer."""
_QUERY_CHARS = 400
"""A server takes 1,024 terms at least, looks for each in two fields, and in some scripts a
character is a term."""


def match_text(query: str) -> str:
    """The words of a query, within what a server takes; empty without any."""
    kept: list[str] = []
    room = _QUERY_CHARS
    for word in query_words(unicodedata.normalize("NFC", query)):
        cut = word[:_WORD_CHARS]
        room -= 1 if cut.isascii() else len(cut)
        if room < 0:
            break
        kept.append(cut)
    return " ".join(kept)


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


def by_words(text: str, filters: Sequence[Json], size: int) -> Json:
    """The versions with any of the words, by BM25; the task counts half."""
    return {
        "query": {
            "bool": {
                "must": [
                    {
                        "multi_match": {
                            "query": text,
                            "fields": ["text", "prompt^0.5"],
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
        "highlight": {
            "pre_tags": [OPEN],
            "post_tags": [CLOSE],
            "number_of_fragments": 1,
            "fields": {"text": {}, "prompt": {}},
        },
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
