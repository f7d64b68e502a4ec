"""Vectors of versions, by sqlite-vec: a table for each model, so that none are ever mixed.

The tables are made when they are first needed, and need the extension for whatever is done to them.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from sifaka.embeddings.protocol import Vector
from sifaka.errors import ConfigurationError
from sifaka.storage.protocol import ANY, Filters
from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.sqlite.extension import load_extension
from sifaka.storage.sqlite.filters import ADMITTED, bindings

_CHUNK = 256
"""Vectors of a tenant for which space is taken at once."""
_MOST = 4096
"""Neighbours that sqlite-vec gives at most."""
_RELATED = 1.414
"""A distance a hair below that of vectors at right angles, which have nothing in common."""


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Where the vectors of one model are."""

    number: int
    until: int
    """The versions up to this number have been embedded; they are numbered as they are written."""

    @property
    def name(self) -> str:
        """The name of the table."""
        return f"vectors_{self.number}"


def find_table(connection: Connection, model_id: str, dimension: int) -> VectorTable | None:
    """The table of a model, if there is one.

    Raises:
        ConfigurationError: It has vectors of another dimension, or the extension is missing.
    """
    row = connection.execute(
        "SELECT number, dimension, embedded_until FROM vector_models WHERE model_id = ?",
        (model_id,),
    ).fetchone()
    if row is None:
        return None
    number, recorded, until = cast("tuple[int, int, int]", row)
    if recorded != dimension:
        raise ConfigurationError(
            f"dimension mismatch: the stored vectors of {model_id!r} have {recorded} numbers, "
            f"the model makes {dimension}",
            "embed with the model as it was, or give this one another id",
        )
    load_extension(connection)
    return VectorTable(number, until)


def make_table(connection: Connection, model_id: str, dimension: int) -> VectorTable:
    """The table of a model, made if there is none; raises what `find_table` does."""
    found = find_table(connection, model_id, dimension)
    if found:
        return found
    load_extension(connection)
    with transaction(connection, "IMMEDIATE"):
        # Asked again under the write lock: another process may have been faster.
        found = find_table(connection, model_id, dimension)
        if found:
            return found
        connection.execute(
            "INSERT INTO vector_models (model_id, dimension) VALUES (?, ?)", (model_id, dimension)
        )
        table = VectorTable(connection.last_insert_rowid(), until=0)
        # By L2, the distance that is computed fastest: of vectors of length 1 it is in the order of
        # their cosine similarity.
        connection.execute(f"""
            CREATE VIRTUAL TABLE {table.name} USING vec0 (
                tenant TEXT PARTITION KEY, vector FLOAT[{dimension}], chunk_size = {_CHUNK})
        """)
        return table


def add_vector(connection: Connection, table: VectorTable, version: int, vector: Vector) -> None:
    """Keep the vector of a version, unless that has been deleted."""
    connection.execute(
        f"INSERT INTO {table.name} (rowid, tenant, vector) "  # noqa: S608 - a name of ours
        "SELECT id, tenant, ? FROM versions WHERE id = ?",
        (_packed(vector), version),
    )


def nearest(
    connection: Connection,
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
        (*bindings(tenant, only), _packed(vector), min(limit, _MOST)),
    )
    found = cast("list[tuple[int, float]]", rows.fetchall())
    return [version for version, distance in found if distance < _RELATED]


def remove_vectors(connection: Connection, versions: Sequence[int]) -> None:
    """Take versions out of the tables of all models; part of the transaction that deletes them.

    Raises:
        ConfigurationError: There are vectors and the extension is missing.
    """
    models = connection.execute("SELECT number, embedded_until FROM vector_models").fetchall()
    for table in (VectorTable(*model) for model in models):
        load_extension(connection)
        for version in versions:
            connection.execute(f"DELETE FROM {table.name} WHERE rowid = ?", (version,))  # noqa: S608 - names of ours


def drop_table(connection: Connection, model_id: str) -> None:
    """Forget all vectors of a model; one that is unknown is forgotten.

    Raises:
        ConfigurationError: There are vectors and the extension is missing.
    """
    with transaction(connection, "IMMEDIATE"):
        rows = connection.execute(
            "DELETE FROM vector_models WHERE model_id = ? RETURNING number", (model_id,)
        ).fetchall()
        for (number,) in rows:
            load_extension(connection)
            connection.execute(f"DROP TABLE {VectorTable(number, until=0).name}")


def _packed(vector: Vector) -> bytes:
    return array("f", vector).tobytes()
