"""The index of a SQLite log, in the same file: words by FTS5, vectors by sqlite-vec."""

from typing import cast

from anyio import fail_after

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import EmbeddingError, SifakaError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import query_words
from sifaka.storage.embedding import embed_query, without_meaning
from sifaka.storage.index import ANY, Filters, Hits
from sifaka.storage.log import Health
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.log import PATIENCE, SQLiteLog
from sifaka.storage.sqlite.search import Question, search_both, search_versions
from sifaka.storage.sqlite.vectors import check_package, drop_table, embed_batch, find_table


class SQLiteIndex:
    """A `SearchIndex` of the runs in the same file.

    The log writes and deletes the words of a version in the transaction of its entry, so this index
    is never behind; vectors are made by `catch_up`.

    Args:
        log: The log whose file it is in; it closes with the log.
        embedder: Makes the vectors for semantic search; without one, words alone are searched for.

    Raises:
        ConfigurationError: An embedder needs `sifaka-mcp[embeddings]`, which is not installed.
    """

    def __init__(self, log: SQLiteLog, embedder: Embedder | None = None) -> None:
        if embedder is not None:
            check_package()
        self._log = log
        self._embedder = embedder
        self._worker = log.worker

    @property
    def place(self) -> str:
        """The URL of the log."""
        return self._log.place

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Done by the log."""

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to, or
                `sifaka-mcp[embeddings]` is not installed.
            StorageError: SQLite failed.
        """
        tenant = self._log.tenant
        meaning, failed = await self._embedded(query)
        if meaning is None:
            hits = await self._worker.run(lambda c: search_versions(c, tenant, query, limit, only))
            return hits.model_copy(update={"search": hits.search + failed})
        return await self._worker.run(lambda c: search_both(c, tenant, meaning, limit, only))

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run, from the log's own entries."""
        try:
            return (await self._log.load(run_id)).thoughts
        except ThoughtNotFound:
            return ()

    async def drop(self, run_id: str) -> None:
        """Done by the log."""

    async def catch_up(self) -> int:
        """Embed some versions that have no vector of the embedder's model yet, of all tenants.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to, or
                `sifaka-mcp[embeddings]` is not installed.
            StorageError: The embedder or SQLite failed.
        """
        return await embed_batch(self._worker, self._embedder) if self._embedder else 0

    async def drop_vectors(self, model_id: str) -> None:
        """Delete the vectors of a model that is not used any more, of all tenants."""
        await self._worker.run(lambda c: drop_table(c, model_id))

    async def health(self) -> tuple[Health, ...]:
        """The number of embedded versions; nothing without an embedder."""
        if self._embedder is None:
            return ()
        part = f"{self.place} vectors of {self._embedder.model_id}"
        try:
            with fail_after(PATIENCE):
                found, works = await self._count(self._embedder), True
        except SifakaError as error:
            found, works = str(error), False
        except TimeoutError:
            found, works = f"no answer within {PATIENCE} s; try again", False
        return (Health(part=part, works=works, found=found),)

    def scoped(self, tenant: str) -> "SQLiteIndex":
        """The same index as another tenant sees it."""
        return SQLiteIndex(self._log.scoped(tenant), self._embedder)

    async def aclose(self) -> None:
        """Nothing: the file is the log's."""

    async def _count(self, embedder: Embedder) -> str:
        dimension = await embedder.dimension()

        def count(connection: SqlConnection) -> str:
            table = find_table(connection, embedder.model_id, dimension)
            total, missing = cast(
                "tuple[int, int]",
                connection.execute(
                    "SELECT count(*), count(*) FILTER (WHERE id > ?) FROM versions",
                    (table.until if table else 0,),
                ).fetchone(),
            )
            return f"dimension {dimension}, {total - missing} of {total} versions are embedded"

        return await self._worker.run(count)

    async def _embedded(self, query: str) -> tuple[Question | None, str]:
        """The query with its vector; without one, a note on why."""
        if self._embedder is None or not query_words(query):
            return None, ""
        try:
            vector = await embed_query(self._embedder, query)
        except EmbeddingError as error:
            return None, without_meaning(error)
        return Question(query, self._embedder.model_id, vector), ""
