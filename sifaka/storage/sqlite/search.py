"""Search by words with FTS5 (stemmed English, no case, no diacritics), and by meaning too."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from sifaka.embeddings.protocol import Vector
from sifaka.storage.bm25 import query_words, shorten
from sifaka.storage.fusion import fuse, fused_depth, hybrid_name
from sifaka.storage.index import Filters, Hit, Hits
from sifaka.storage.sqlite.connection import UNREADABLE, SqlConnection, transaction
from sifaka.storage.sqlite.filters import ADMITTED, bindings
from sifaka.storage.sqlite.vectors import count_missing, find_table, nearest
from sifaka.storage.timestamps import from_microseconds

logger = logging.getLogger(__name__)
Scored = tuple[int, float]
"""The number of a version, and its score."""


def search_versions(
    connection: SqlConnection, tenant: str, query: str, limit: int, only: Filters
) -> Hits:
    """The versions that contain any word of the query, by BM25; the task counts half."""
    match = match_expression(query)
    with transaction(connection, "DEFERRED"):
        best = rank_by_words(connection, tenant, match, depth(limit), only)
        return Hits(hits=show(connection, match, best, limit), search="bm25")


def depth(limit: int) -> int:
    """The candidates to rank: more than are shown, as one may turn out to be damaged."""
    return max(50, 5 * limit)


def match_expression(query: str) -> str:
    """The query in FTS5's language: any of its words, each quoted, so nothing is an operator."""
    return " OR ".join(f'"{word}"' for word in query_words(query))


def rank_by_words(
    connection: SqlConnection, tenant: str, match: str, limit: int, only: Filters
) -> list[Scored]:
    """The versions that match best, by BM25; higher is better."""
    if not match:
        return []
    rows = connection.execute(
        f"""
        SELECT versions.id, -bm25(version_search, 1.0, 0.5) AS score
        FROM version_search JOIN versions ON versions.id = version_search.rowid
        WHERE version_search MATCH ?6 AND {ADMITTED}
        ORDER BY score DESC, versions.id DESC LIMIT ?7
        """,  # noqa: S608 - a constant of ours
        (*bindings(tenant, only), match, limit),
    )
    return cast("list[Scored]", rows.fetchall())


def show(
    connection: SqlConnection, match: str, best: Iterable[Scored], limit: int
) -> tuple[Hit, ...]:
    """The first of these versions as hits; what is damaged is left out and logged."""
    # Snippets come last, for the few that are shown: each reads and tokenises a whole text.
    hits: list[Hit] = []
    for version, score in best:
        if len(hits) == limit:
            break
        try:
            hits.append(_hit(connection, match, version, score))
        except UNREADABLE:
            logger.warning("version %d cannot be read and was left out of a search", version)
    return tuple(hits)


def _hit(connection: SqlConnection, match: str, version: int, score: float) -> Hit:
    row = connection.execute(
        """
        SELECT versions.run_id, versions.created_at, json_extract(payload, '$.thought.id'),
               coalesce(
                   (SELECT snippet(version_search, -1, '**', '**', '…', 16)
                    FROM version_search WHERE version_search MATCH ?1 AND rowid = ?2),
                   substr(text, 1, 1000))
        FROM versions JOIN version_texts USING (id) JOIN entries USING (tenant, run_id, seq)
        WHERE id = ?2 AND text IS NOT NULL AND prompt IS NOT NULL
        """,
        (match, version),
    ).fetchone()
    if row is None:
        raise ValueError("it or the beginning of its run is damaged")
    run_id, created_at, thought_id, snippet = cast("tuple[str, int, str, str]", row)
    return Hit(
        run_id=run_id,
        thought_id=thought_id,
        score=score,
        snippet=shorten(snippet),
        created_at=from_microseconds(created_at),
    )


@dataclass(frozen=True, slots=True)
class Question:
    """A query in words and as a vector."""

    words: str
    model_id: str
    vector: Vector


def search_both(
    connection: SqlConnection, tenant: str, question: Question, limit: int, only: Filters
) -> Hits:
    """The versions that share words or meaning with the query, best first."""
    match, wide = match_expression(question.words), fused_depth(limit)
    with transaction(connection, "DEFERRED"):
        table = find_table(connection, question.model_id, len(question.vector))
        by_words = rank_by_words(connection, tenant, match, wide, only)
        by_meaning = (
            nearest(connection, tenant, table, question.vector, wide, only) if table else []
        )
        best = fuse(by_meaning, [version for version, _ in by_words])
        missing = count_missing(connection, table, tenant)
        return Hits(hits=show(connection, match, best, limit), search=hybrid_name(missing))
