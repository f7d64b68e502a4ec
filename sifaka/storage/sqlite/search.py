"""Search by words with FTS5 (see `sifaka.text.search_terms`), and by meaning too."""

import logging
from collections.abc import Iterable, Sequence

from sifaka.embeddings.protocol import Vector
from sifaka.storage.bm25 import query_words, shorten, snippet
from sifaka.storage.cursor import from_microseconds
from sifaka.storage.embedding import fuse, fused_depth, hybrid_name, lacking
from sifaka.storage.protocol import Filters, Hit, Hits
from sifaka.storage.sqlite.connection import UNREADABLE, SqlConnection, transaction
from sifaka.storage.sqlite.vectors import count_missing, find_table, nearest
from sifaka.storage.sqlite.words import ADMITTED, bindings, catch_up_words, count_without_words
from sifaka.text.search_terms import query_terms

logger = logging.getLogger(__name__)
Scored = tuple[int, float]
"""The number of a version, and its score."""


def search_versions(
    connection: SqlConnection,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
    *,
    model_id: str = "",
    vector: Vector | None = None,
) -> Hits:
    """The versions that contain any word of the query, by BM25; the task counts half.

    With the vector of a query those that share its meaning too, fused by rank.
    """
    words = query_words(query)
    catch_up_words(connection)
    with transaction(connection, "DEFERRED"):
        if vector is None:
            # More than are shown, as one may turn out to be damaged.
            best = rank_by_words(connection, tenant, words, max(50, 5 * limit), only)
            search = "bm25"
        else:
            wide = fused_depth(limit)
            table = find_table(connection, model_id, len(vector))
            meant = nearest(connection, tenant, table, vector, wide, only) if table else []
            worded = rank_by_words(connection, tenant, words, wide, only)
            best = fuse(meant, [version for version, _ in worded])
            search = hybrid_name(count_missing(connection, table, tenant))
        search += lacking(count_without_words(connection, tenant), "indexed")
        return Hits(hits=show(connection, words, best, limit), search=search)


def rank_by_words(
    connection: SqlConnection, tenant: str, words: Sequence[str], limit: int, only: Filters
) -> list[Scored]:
    """The versions that match best, by BM25; higher is better."""
    # Each form is quoted, so nothing is an operator.
    match = " OR ".join(f'"{form}"' for forms in query_terms(words) for form in sorted(forms))
    if not match:
        return []
    rows = connection.execute(
        f"""
        SELECT versions.id, -bm25(version_words, 1.0, 0.5) AS score
        FROM version_words JOIN versions ON versions.id = version_words.rowid
        WHERE version_words MATCH ?6 AND {ADMITTED}
        ORDER BY score DESC, versions.id DESC LIMIT ?7
        """,  # noqa: S608 - a constant of ours
        (*bindings(tenant, only), match, limit),
    )
    return rows.fetchall()


def show(
    connection: SqlConnection, words: Sequence[str], best: Iterable[Scored], limit: int
) -> tuple[Hit, ...]:
    """The first of these versions as hits; what is damaged is left out and logged."""
    # Snippets come last, for the few that are shown: each reads a whole text.
    hits: list[Hit] = []
    for version, score in best:
        if len(hits) == limit:
            break
        try:
            hits.append(_hit(connection, words, version, score))
        except UNREADABLE:
            logger.warning("version %d cannot be read and was left out of a search", version)
    return tuple(hits)


def _hit(connection: SqlConnection, words: Sequence[str], version: int, score: float) -> Hit:
    row = connection.execute(
        """
        SELECT versions.run_id, versions.created_at, json_extract(payload, '$.thought.id'), text,
               prompt
        FROM versions JOIN version_texts USING (id) JOIN entries USING (tenant, run_id, seq)
        WHERE id = ? AND text IS NOT NULL AND prompt IS NOT NULL
        """,
        (version,),
    ).fetchone()
    if row is None:
        raise ValueError("it or the beginning of its run is damaged")
    run_id, created_at, thought_id, text, prompt = row
    return Hit(
        run_id=run_id,
        thought_id=thought_id,
        score=score,
        snippet=snippet(words, (text, prompt)) or shorten(text[:1000]),
        created_at=from_microseconds(created_at),
    )
