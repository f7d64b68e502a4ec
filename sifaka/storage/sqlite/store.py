"""A store in one SQLite file."""

from pathlib import Path

from sifaka.embeddings.protocol import Embedder
from sifaka.storage.sqlite.index import SQLiteIndex
from sifaka.storage.sqlite.log import SQLiteLog
from sifaka.storage.store import LogStore


class SQLiteStorage(LogStore[SQLiteLog]):
    """A `ThoughtStore` of a `SQLiteLog` and the `SQLiteIndex` in the same file.

    Args:
        path: The file; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
        embedder: Makes the vectors for semantic search; without one, words alone are searched for.

    Raises:
        ConfigurationError: An embedder needs `sifaka-mcp[embeddings]`, which is not installed.
    """

    def __init__(
        self, path: str | Path, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> None:
        log = SQLiteLog(path, tenant=tenant)
        self._vectors = SQLiteIndex(log, embedder)
        super().__init__(log, self._vectors, tenant=tenant)

    @property
    def path(self) -> Path:
        """The file."""
        return self.log.path

    async def drop_vectors(self, model_id: str) -> None:
        """Delete the vectors of a model that is not used any more, of all tenants.

        A store whose embedder was replaced keeps the old ones, and has them again when it returns.
        """
        await self._vectors.drop_vectors(model_id)
