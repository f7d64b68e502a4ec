"""Embedding the versions that have no vector yet, a batch at a time.

A model takes its time, so it is asked outside of transactions and of the connection's thread.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.storage.embedding import embed_documents, embedding_failures, meaning
from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.sqlite.vectors import VectorTable, add_vector, make_table
from sifaka.storage.sqlite.worker import SQLiteWorker

logger = logging.getLogger(__name__)
BATCH = 64
"""How many versions are embedded at once."""


@dataclass(frozen=True, slots=True)
class _Batch:
    table: VectorTable
    until: int
    """The last version that is in it or was left out."""
    texts: Mapping[int, str]
    """What to embed, by the version's number."""


async def embed_batch(worker: SQLiteWorker, embedder: Embedder) -> int:
    """Embed the oldest versions without a vector, of all tenants.

    One that the model refuses although it works gets none, and is found by its words alone.

    Returns:
        How many are left.

    Raises:
        ConfigurationError: The model makes vectors of another dimension than it used to.
        StorageError: The model or SQLite failed.
    """
    with embedding_failures():
        dimension = await embedder.dimension()
        batch = await worker.run(lambda c: _next_batch(c, embedder.model_id, dimension))
        if batch.until == batch.table.until:
            return 0
        vectors = await embed_documents(embedder, tuple(batch.texts.values()))
    return await worker.run(lambda c: _keep(c, batch, vectors))


def count_missing(connection: Connection, table: VectorTable | None, tenant: str) -> int:
    """How many versions of a tenant have not been embedded."""
    return cast(
        "int",
        connection.execute(
            "SELECT count(*) FROM versions WHERE id > ? AND tenant = ?",
            (table.until if table else 0, tenant),
        ).get,
    )


def _next_batch(connection: Connection, model_id: str, dimension: int) -> _Batch:
    table = make_table(connection, model_id, dimension)
    with transaction(connection, "DEFERRED"):
        rows = connection.execute(
            "SELECT id FROM versions WHERE id > ? ORDER BY id LIMIT ?", (table.until, BATCH)
        )
        versions = [cast("int", version) for (version,) in rows]
        until = versions[-1] if versions else table.until
        # As bytes, because text may be damaged.
        rows = connection.execute(
            """
            SELECT id, CAST(prompt AS BLOB), CAST(text AS BLOB) FROM version_texts
            WHERE id > ? AND id <= ? AND prompt IS NOT NULL AND text IS NOT NULL
            """,
            (table.until, until),
        )
        texts = {
            version: meaning(prompt.decode(errors="replace"), text.decode(errors="replace"))
            for version, prompt, text in cast("Iterator[tuple[int, bytes, bytes]]", rows)
        }
    for version in versions:
        if version not in texts:
            logger.warning("version %d cannot be read and was not embedded", version)
    # Of nothing there is no vector.
    return _Batch(table, until, {version: text for version, text in texts.items() if text})


def _keep(connection: Connection, batch: _Batch, vectors: Sequence[Vector | None]) -> int:
    with transaction(connection, "IMMEDIATE"):
        mine = connection.execute(
            """
            UPDATE vector_models SET embedded_until = ?
            WHERE number = ? AND embedded_until = ? RETURNING number
            """,
            (batch.until, batch.table.number, batch.table.until),
        ).fetchall()
        if mine:  # and no other process has been faster, or has dropped the table
            for version, vector in zip(batch.texts, vectors, strict=True):
                if vector is not None:
                    add_vector(connection, batch.table, version, vector)
        return cast(
            "int",
            connection.execute(
                """
                SELECT count(*) FROM versions
                WHERE id > (SELECT embedded_until FROM vector_models WHERE number = ?)
                """,
                (batch.table.number,),
            ).get,
        )
