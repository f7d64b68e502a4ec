"""Deleting a run with everything that was made of it."""

from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.sqlite.index import unindex_versions
from sifaka.storage.sqlite.vectors import remove_vectors


def delete_run(connection: Connection, tenant: str, run_id: str) -> None:
    """Forget a run, all of it or nothing.

    Raises:
        ConfigurationError: The file has vectors, which cannot be deleted without the extension.
    """
    with transaction(connection, "IMMEDIATE"):
        versions = connection.execute(
            "SELECT id FROM versions WHERE tenant = ? AND run_id = ?", (tenant, run_id)
        ).fetchall()
        if versions:
            remove_vectors(connection, [version for (version,) in versions])
        unindex_versions(connection, tenant, run_id)
        # Its entries and versions go with it.
        connection.execute("DELETE FROM runs WHERE tenant = ? AND run_id = ?", (tenant, run_id))
