"""Search by words with FTS5 (see `sifaka.text.search_terms`), and by meaning with sqlite-vec.

Vectors are in a table for each model, so that none are ever mixed. The tables are made when they
are first needed, and need the extension for whatever is done to them. A model takes its time, so it
is asked outside of transactions and of the connection's thread.
"""

import json
import logging
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.errors import ConfigurationError
from sifaka.extras import require
from sifaka.storage.bm25 import hit_of, query_words
from sifaka.storage.cursor import from_microseconds, to_microseconds
from sifaka.storage.embedding import (
    embed_documents,
    embedding_failures,
    fuse,
    fused_depth,
    hybrid_name,
    lacking,
    meaning,
)
from sifaka.storage.protocol import ANY, Filters, Hit, Hits
from sifaka.storage.sqlite.connection import (
    UNREADABLE,
    SqlConnection,
    SQLiteWorker,
    transaction,
)
from sifaka.text.search_terms import language_of, query_terms, text_terms

logger = logging.getLogger(__name__)

SECONDS = 2.0
"""The time that a search spends on versions without words before it answers."""
SLICE = 0.1
"""Seconds for which other writers wait while versions get their words."""
_INDEXED_AT_ONCE = 50
_WAITING = "SELECT count(*) FROM versions_without_words"


def catch_up_words(connection: SqlConnection, seconds: float = SECONDS) -> int:
    """Index versions that have no words yet, the newest first, for about so long.

    Returns:
        The versions that are left, of all tenants.
    """
    deadline = time.monotonic() + seconds
    while left := connection.execute(_WAITING).get:
        if time.monotonic() >= deadline or connection.readonly("main"):
            return left
        with transaction(connection, "IMMEDIATE"):
            _index_batch(connection)
    return 0


def count_without_words(connection: SqlConnection, tenant: str) -> int:
    """The versions of a tenant that are not indexed yet."""
    return connection.execute(
        f"{_WAITING} JOIN versions USING (id) WHERE tenant = ?", (tenant,)
    ).get


def _index_batch(connection: SqlConnection) -> None:
    deadline = time.monotonic() + SLICE
    waiting = connection.execute(
        "SELECT id FROM versions_without_words ORDER BY id DESC LIMIT ?", (_INDEXED_AT_ONCE,)
    ).fetchall()
    # As bytes, because text may be damaged. An outer join would read the texts of all versions.
    rows = connection.execute(
        """
        SELECT id, CAST(text AS BLOB), CAST(prompt AS BLOB) FROM version_texts
        WHERE id IN (SELECT value FROM json_each(?)) AND text IS NOT NULL AND prompt IS NOT NULL
        """,
        (json.dumps([version for (version,) in waiting]),),
    )
    contents = {
        version: [each.decode(errors="replace") for each in texts] for version, *texts in rows
    }
    for (version,) in waiting:
        if version in contents:  # a damaged one has no words
            language = language_of(*contents[version])
            connection.execute(
                "INSERT INTO version_words (rowid, text, prompt) VALUES (?, ?, ?)",
                (version, *(" ".join(text_terms(t, language)) for t in contents[version])),
            )
        connection.execute("DELETE FROM versions_without_words WHERE id = ?", (version,))
        if time.monotonic() >= deadline:
            break


ADMITTED = """
    versions.tenant = ?1
    AND (?2 IS NULL OR versions.created_at >= ?2)
    AND (?3 IS NULL OR versions.created_at < ?3)
    AND (?4 IS NULL OR ?4 = (
        SELECT passed FROM runs
        WHERE runs.tenant = versions.tenant AND runs.run_id = versions.run_id))
    AND (?5 IS NULL OR NOT EXISTS (
        SELECT value FROM json_each(?5) EXCEPT SELECT tag.value
        FROM runs
        JOIN json_each(CASE WHEN json_valid(runs.tags) THEN runs.tags ELSE '[]' END) AS tag
        WHERE runs.tenant = versions.tenant AND runs.run_id = versions.run_id))
"""
"""Holds for a row of `versions` that a search looks at; its values are those of `bindings`."""


def bindings(tenant: str, only: Filters) -> tuple[object, ...]:
    """The first values of a statement that has `ADMITTED` in it; further ones are `?6` and on."""
    return (
        tenant,
        None if only.since is None else to_microseconds(only.since),
        None if only.until is None else to_microseconds(only.until),
        only.passed,
        json.dumps(only.tags) if only.tags else None,
    )


_RELATED = 1.414
"""A distance a hair below that of vectors at right angles, which have nothing in common."""


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table of one model's vectors."""

    name: str
    until: int
    """The versions up to this number have been embedded; they are numbered as they are written."""


def find_table(connection: SqlConnection, model_id: str, dimension: int) -> VectorTable | None:
    """The table of a model, if there is one."""
    row = connection.execute(
        """
        SELECT 'vectors_' || number, embedded_until, dimension FROM vector_models
        WHERE model_id = ?
        """,
        (model_id,),
    ).fetchone()
    if row is None:
        return None
    name, until, recorded = row
    if recorded != dimension:
        raise ConfigurationError(
            f"dimension mismatch: the stored vectors of {model_id!r} have {recorded} numbers, "
            f"the model makes {dimension}",
            "embed with the model as it was, or give this one another id",
        )
    load_extension(connection)
    return VectorTable(name, until)


def make_table(connection: SqlConnection, model_id: str, dimension: int) -> VectorTable:
    """The table of a model, made if there is none."""
    with transaction(connection, "IMMEDIATE"):
        connection.execute(
            "INSERT OR IGNORE INTO vector_models (model_id, dimension) VALUES (?, ?)",
            (model_id, dimension),
        )
        table = find_table(connection, model_id, dimension)
        assert table is not None, "it is written down"
        # With space for 256 vectors of a tenant at once. By L2, the distance that is computed
        # fastest: of vectors of length 1 it is in the order of their cosine similarity.
        connection.execute(f"""
            CREATE VIRTUAL TABLE IF NOT EXISTS {table.name} USING vec0 (
                tenant TEXT PARTITION KEY, vector FLOAT[{dimension}], chunk_size = 256)
        """)
        return table


def nearest(
    connection: SqlConnection,
    tenant: str,
    table: VectorTable,
    vector: Vector,
    limit: int,
    only: Filters,
) -> list[int]:
    """The numbers of the versions that are closest to a vector, closest first."""
    # Filtering comes first, so that of a few that are admitted none is missed.
    among = "" if only == ANY else f"AND rowid IN (SELECT id FROM versions WHERE {ADMITTED})"  # noqa: S608 - names of ours
    rows = connection.execute(
        f"SELECT rowid, distance FROM {table.name} "  # noqa: S608 - names of ours
        f"WHERE tenant = ?1 AND vector MATCH ?6 AND k = ?7 {among} ORDER BY distance",
        (*bindings(tenant, only), _pack_vector(vector), min(limit, 4096)),  # it gives no more,
    )
    return [version for version, distance in rows if distance < _RELATED]


def remove_vectors(connection: SqlConnection, versions: Sequence[int]) -> None:
    """Take versions out of the tables of all models; part of the transaction that deletes them."""
    tables = connection.execute("SELECT 'vectors_' || number FROM vector_models").fetchall()
    for (name,) in tables:
        load_extension(connection)
        rows = [(version,) for version in versions]
        connection.executemany(f"DELETE FROM {name} WHERE rowid = ?", rows)  # noqa: S608 - names of ours


def _pack_vector(vector: Vector) -> bytes:
    return array("f", vector).tobytes()


BATCH = 64
"""Versions that are embedded at once."""


async def embed_batch(worker: SQLiteWorker, embedder: Embedder) -> int:
    """Embed the oldest versions without a vector, of all tenants.

    One that the model refuses although it works gets none, and is found by its words alone.

    Returns:
        How many are left.
    """
    # A model that nothing waits for is not loaded.
    if not await worker.run(lambda c: _count_unembedded(c, embedder.model_id)):
        return 0
    with embedding_failures():
        dimension = await embedder.dimension()
        table, until, texts = await worker.run(
            lambda c: _select_batch(c, embedder.model_id, dimension)
        )
        vectors = await embed_documents(embedder, texts)
    await worker.run(lambda c: _store_vectors(c, embedder.model_id, table, until, vectors))
    return await worker.run(lambda c: _count_unembedded(c, embedder.model_id))


def _count_unembedded(connection: SqlConnection, model_id: str) -> int:
    rows = connection.execute(
        """
        SELECT count(*) FROM versions WHERE id > coalesce(
            (SELECT embedded_until FROM vector_models WHERE model_id = ?), 0)
        """,
        (model_id,),
    )
    return rows.get


def _select_batch(
    connection: SqlConnection, model_id: str, dimension: int
) -> tuple[VectorTable, int, Mapping[int, str]]:
    """The table of a model, the last version that is looked at, and texts to embed by number."""
    table = make_table(connection, model_id, dimension)
    with transaction(connection, "DEFERRED"):
        rows = connection.execute(
            "SELECT id FROM versions WHERE id > ? ORDER BY id LIMIT ?", (table.until, BATCH)
        )
        versions = [version for (version,) in rows]
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
            for version, prompt, text in rows
        }
    for version in versions:
        if version not in texts:
            logger.warning("version %d cannot be read and was not embedded", version)
    # Of nothing there is no vector.
    return table, until, {version: text for version, text in texts.items() if text}


def _store_vectors(
    connection: SqlConnection,
    model_id: str,
    table: VectorTable,
    until: int,
    vectors: Mapping[int, Vector],
) -> None:
    with transaction(connection, "IMMEDIATE"):
        claimed = connection.execute(
            """
            UPDATE vector_models SET embedded_until = ?
            WHERE model_id = ? AND embedded_until = ? RETURNING number
            """,
            (until, model_id, table.until),
        ).fetchall()
        if claimed:  # and no other process has been faster
            # Unless the version has been deleted.
            connection.executemany(
                f"INSERT INTO {table.name} (rowid, tenant, vector) "  # noqa: S608 - a name of ours
                "SELECT id, tenant, ? FROM versions WHERE id = ?",
                [(_pack_vector(vector), version) for version, vector in vectors.items()],
            )


check_package = partial(require, "a SQLite file with vectors", "embeddings", "sqlite_vec")
"""See that the extension is installed."""


def load_extension(connection: SqlConnection) -> None:
    """Teach a connection `vec0` tables, if it does not know them yet."""
    loaded = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'").fetchone()
    if loaded:
        return
    check_package()
    import sqlite_vec  # pyright: ignore[reportMissingTypeStubs]

    connection.enable_load_extension(True)
    try:
        connection.load_extension(sqlite_vec.loadable_path())
    finally:
        # Otherwise SQL could load any library.
        connection.enable_load_extension(False)


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
    # More than are shown, as one may turn out to be damaged.
    wide = max(50, 5 * limit) if vector is None else fused_depth(limit)
    with transaction(connection, "DEFERRED"):
        best = rank_by_words(connection, tenant, words, wide, only)
        search = "bm25"
        if vector is not None:
            table = find_table(connection, model_id, len(vector))
            semantic = nearest(connection, tenant, table, vector, wide, only) if table else []
            best = fuse(semantic, [version for version, _ in best])
            missing = "SELECT count(*) FROM versions WHERE id > ? AND tenant = ?"
            until = table.until if table else 0
            search = hybrid_name(connection.execute(missing, (until, tenant)).get)
        search += lacking(count_without_words(connection, tenant), "indexed")
        hits = tuple(islice(read_hits(connection, words, best), limit))
    return Hits(hits=hits, search=search)


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


def read_hits(
    connection: SqlConnection, words: Sequence[str], best: Iterable[Scored]
) -> Iterator[Hit]:
    """These versions as hits, each of which reads a whole text; a damaged one is left out."""
    for version, score in best:
        try:
            yield _build_hit(connection, words, version, score)
        except UNREADABLE:
            logger.warning("version %d cannot be read and was left out of a search", version)


def _build_hit(connection: SqlConnection, words: Sequence[str], version: int, score: float) -> Hit:
    row = connection.execute(
        """
        SELECT versions.created_at, versions.run_id, json_extract(payload, '$.thought.id'), text,
               prompt
        FROM versions JOIN version_texts USING (id) JOIN entries USING (tenant, run_id, seq)
        WHERE id = ? AND text IS NOT NULL AND prompt IS NOT NULL
        """,
        (version,),
    ).fetchone()
    if row is None:
        raise ValueError("it or the beginning of its run is damaged")
    created_at, *fields = row
    return hit_of(words, score, from_microseconds(created_at), *fields)
