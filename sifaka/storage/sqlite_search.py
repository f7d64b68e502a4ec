"""Full-text search by SQLite's FTS5: stemmed English, no case, no diacritics."""

from datetime import datetime
from typing import cast

from sifaka.run import Run
from sifaka.storage.bm25 import query_words, shorten
from sifaka.storage.protocol import Hit, Hits
from sifaka.storage.sqlite_connection import Connection


def index_version(connection: Connection, tenant: str, run: Run, seq: int, text: str) -> None:
    """Make one version findable; part of the transaction that stores it."""
    connection.execute(
        "INSERT INTO versions (tenant, run_id, seq) VALUES (?, ?, ?)", (tenant, run.run_id, seq)
    )
    connection.execute(
        "INSERT INTO version_search (rowid, text, prompt) VALUES (?, ?, ?)",
        (connection.last_insert_rowid(), text, run.prompt),
    )


def search_versions(connection: Connection, tenant: str, query: str, limit: int) -> Hits:
    """The versions that contain any word of the query, by BM25; the task counts half."""
    match = match_expression(query)
    if not match:
        return Hits(hits=(), search="bm25")
    best = connection.execute(
        """
        SELECT versions.id, -bm25(version_search, 1.0, 0.5) AS score
        FROM version_search JOIN versions ON versions.id = version_search.rowid
        WHERE version_search MATCH ? AND versions.tenant = ?
        ORDER BY score DESC, versions.id DESC LIMIT ?
        """,
        (match, tenant, limit),
    ).fetchall()
    # Snippets afterwards, for the few that are shown: each reads and tokenises a whole text.
    return Hits(
        hits=tuple(
            _hit(connection, match, version, score)
            for version, score in cast("list[tuple[int, float]]", best)
        ),
        search="bm25",
    )


def match_expression(query: str) -> str:
    """The query in FTS5's language: any of its words, each quoted, so nothing is an operator."""
    return " OR ".join(f'"{word}"' for word in query_words(query))


def _hit(connection: Connection, match: str, version: int, score: float) -> Hit:
    run_id, thought_id, created_at, snippet = cast(
        "tuple[str, str, str, str]",
        connection.execute(
            """
            SELECT versions.run_id, json_extract(payload, '$.thought.id'),
                   json_extract(payload, '$.thought.created_at'),
                   snippet(version_search, -1, '**', '**', '…', 16)
            FROM version_search
            JOIN versions ON versions.id = version_search.rowid
            JOIN entries USING (tenant, run_id, seq)
            WHERE version_search MATCH ? AND version_search.rowid = ?
            """,
            (match, version),
        ).fetchone(),
    )
    return Hit(
        run_id=run_id,
        thought_id=thought_id,
        score=score,
        snippet=shorten(snippet),
        created_at=datetime.fromisoformat(created_at),
    )
