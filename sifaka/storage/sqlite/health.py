"""Whether a file and its vectors can be worked with."""

from typing import cast

from sifaka.embeddings.protocol import Embedder
from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.sqlite.vectors import find_table
from sifaka.storage.sqlite.worker import SQLiteWorker


def look(connection: Connection) -> str:
    """What is in the file, in one line, after a look whether it can be written.

    Raises:
        apsw.Error: It cannot be read, or somebody keeps it locked.
    """
    with transaction(connection, "IMMEDIATE"):
        runs, schema, pages, page_size = cast(
            "tuple[int, int, int, int]",
            connection.execute(
                """
                SELECT (SELECT count(*) FROM runs), user_version, page_count, page_size
                FROM pragma_user_version, pragma_page_count, pragma_page_size
                """
            ).fetchone(),
        )
    return f"schema {schema}, runs: {runs}, {pages * page_size / 1e6:.1f} MB"


async def look_at_vectors(worker: SQLiteWorker, embedder: Embedder) -> str:
    """How many versions have been embedded, of all tenants.

    Raises:
        EmbeddingError: The embedder does not work.
        ConfigurationError: Its vectors have another dimension than the stored ones.
        StorageError: SQLite failed.
    """
    dimension = await embedder.dimension()

    def count(connection: Connection) -> str:
        table = find_table(connection, embedder.model_id, dimension)
        total, missing = cast(
            "tuple[int, int]",
            connection.execute(
                "SELECT count(*), count(*) FILTER (WHERE id > ?) FROM versions",
                (table.until if table else 0,),
            ).fetchone(),
        )
        return f"dimension {dimension}, {total - missing} of {total} versions are embedded"

    return await worker.run(count)
