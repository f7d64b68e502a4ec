"""Search for versions: candidates from words and vectors, checked against the versions."""

import json
from collections.abc import Callable, Sequence

from sifaka.embeddings.protocol import Vector
from sifaka.storage.bm25 import best_hits, hit_of, query_words
from sifaka.storage.cursor import now_in_microseconds, to_microseconds
from sifaka.storage.embedding import fuse, fused_depth, hybrid_name
from sifaka.storage.milvus.catch_up import look_for_missing, readable
from sifaka.storage.milvus.client import Row
from sifaka.storage.milvus.connection import MOST_ROWS, MilvusConnection
from sifaka.storage.milvus.rows import plain, tenant_key
from sifaka.storage.protocol import Filters, Hit, Hits
from sifaka.text.search_terms import query_terms

_NO_FULL_TEXT = "no full text on this server"
_SCANNED = 2_000
"""Versions that a search reads where the server has no full text."""
_UNRELATED = 0.0003
"""A cosine a hair above that of vectors at right angles, which have nothing in common."""
Scored = tuple[str, float]
"""The key of a version, and its score."""


Meaning = tuple[str, Vector]
"""The collection of a model's vectors, and the query's vector."""


def search_versions(
    milvus: MilvusConnection,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
    meaning: Meaning | None,
) -> Hits:
    """The best versions for a query; of two rankings, by words and by meaning, one is made."""
    words = query_words(query)
    if not words or limit < 1:
        return Hits(hits=(), search="bm25")
    if not milvus.full_text and meaning is None:
        return _scan(milvus, tenant, words, limit, only)
    condition = _condition(tenant, only)
    depth = limit if meaning is None else fused_depth(limit)
    rankings: list[list[Scored]] = []
    search = "bm25"
    if meaning is not None:
        name, vector = meaning
        missing = look_for_missing(milvus, name)

        def by_meaning(count: int) -> list[Scored]:
            found = milvus.nearest(
                name, list(vector), field="vector", condition=condition, limit=count
            )
            return [(key, score) for key, score in found if score > _UNRELATED]

        rankings.append(_rank(milvus, by_meaning, depth, only))
        search = hybrid_name([*missing.values()].count(tenant_key(tenant)))
        if not milvus.full_text:
            search = f"{search.replace('hybrid', 'dense', 1)} ({_NO_FULL_TEXT})"
    if milvus.full_text:
        text = " ".join(plain(form) for forms in query_terms(words) for form in sorted(forms))

        def by_words(count: int) -> list[Scored]:
            return milvus.nearest(
                milvus.names.words, text, field="sparse", condition=condition, limit=count
            )

        rankings.append(_rank(milvus, by_words, depth, only))
    best = rankings[0]
    if len(rankings) > 1:
        best = fuse(*([name for name, _ in ranking] for ranking in rankings))
    return Hits(hits=_show(milvus, best, words, limit), search=search)


def _condition(tenant: str, only: Filters) -> str:
    parts = [f'tenant == "{tenant_key(tenant)}"']
    if only.since is not None:
        parts.append(f"at >= {to_microseconds(only.since)}")
    if only.until is not None:
        parts.append(f"at < {to_microseconds(only.until)}")
    return " and ".join(parts)


def _rank(
    milvus: MilvusConnection,
    nearest: Callable[[int], list[Scored]],
    depth: int,
    only: Filters,
) -> list[Scored]:
    """The first so many of a ranking that are there and that these filters admit."""
    count = min(max(4 * depth, 50), MOST_ROWS)
    while True:
        found = nearest(count)
        rows = milvus.heads([key for key, score in found if score > 0])
        admitted = [(key, s) for key, s in found if key in rows and _admits(rows[key], only)]
        if len(admitted) >= depth or count == MOST_ROWS or len(found) < count:
            return admitted[:depth]
        count = min(count * 8, MOST_ROWS)


def _admits(row: Row, only: Filters) -> bool:
    expired = 0 < row["expires_at"] <= now_in_microseconds()
    return not expired and only.admit_run(passed=bool(row["passed"]), tags=json.loads(row["tags"]))


def _show(
    milvus: MilvusConnection, best: Sequence[Scored], words: Sequence[str], limit: int
) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    for begin in range(0, len(best), limit):
        some = dict(best[begin : begin + limit])
        versions = milvus.versions(list(some), strong=False)
        if len(versions) < len(some):  # put just now
            versions = milvus.versions(list(some), strong=True)
        found = {key: (row["run_id"], task, text) for key, row, task, text in readable(versions)}
        hits += [hit_of(*found[key], score, words) for key, score in some.items() if key in found]
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])


def _scan(
    milvus: MilvusConnection, tenant: str, words: Sequence[str], limit: int, only: Filters
) -> Hits:
    condition = f"{_condition(tenant, only)} and chunk == 0"
    rows = milvus.select(milvus.names.thoughts, condition, ("at", "passed", "tags", "expires_at"))
    latest = sorted(rows, key=lambda row: row["at"], reverse=True)[:_SCANNED]
    keys = [str(row["pk"]).removesuffix(":0") for row in latest if _admits(row, only)]
    versions = readable(milvus.versions(keys, strong=True))
    found = [(row["run_id"], task, thought) for _, row, task, thought in versions]
    return Hits(
        hits=best_hits(words, found, limit),
        search=f"bm25 over the latest {_SCANNED} versions ({_NO_FULL_TEXT})",
    )
