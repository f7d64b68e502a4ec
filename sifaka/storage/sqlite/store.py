"""Runs in one SQLite file: the embedded default."""

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from pathlib import Path

from anyio import fail_after

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import EmbeddingError, SifakaError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.bm25 import query_words
from sifaka.storage.embedding import embed_query, without_meaning
from sifaka.storage.follow import follow_by_looking
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage
from sifaka.storage.sqlite.append import append_entries, claim_run
from sifaka.storage.sqlite.delete import delete_run
from sifaka.storage.sqlite.embedding import embed_batch
from sifaka.storage.sqlite.extension import check_package
from sifaka.storage.sqlite.health import look, look_at_vectors
from sifaka.storage.sqlite.hybrid import Question, search_both
from sifaka.storage.sqlite.read import load_run, read_entries, size_of_run
from sifaka.storage.sqlite.recent import list_recent
from sifaka.storage.sqlite.search import search_versions
from sifaka.storage.sqlite.vectors import drop_table
from sifaka.storage.sqlite.worker import SQLiteWorker
from sifaka.text.input import is_unicode

_PATIENCE = 5
"""Seconds after which a part that has not answered does not work."""


class SQLiteStorage:
    """A `ThoughtStore` in a file that several processes may have open at the same time.

    An append that has returned survives the end of the process and of the power supply. The file
    and its folder are created on first use, readable by their owner only.

    Args:
        path: The file; a relative path is resolved now.
        tenant: Whose runs are seen.
        embedder: Makes the vectors for semantic search; without one, words alone are searched for.
        worker: The connection to share, for a view of a store that is already there.

    Raises:
        ConfigurationError: An embedder needs `sifaka-mcp[embeddings]`, which is not installed.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        tenant: str = "default",
        embedder: Embedder | None = None,
        worker: SQLiteWorker | None = None,
    ) -> None:
        self.path = Path(path).absolute()
        self.tenant = tenant
        self._embedder = embedder
        if embedder is not None:
            check_package()
        self._owned = worker is None
        self._worker = worker or SQLiteWorker(self.path)

    @property
    def place(self) -> str:
        """Its URL."""
        return f"sqlite:///{self.path}"

    @property
    def degraded(self) -> tuple[str, ...]:
        """Nothing: a file works, or an append raises."""
        return ()

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `ThoughtStore.append`.

        Raises:
            Fenced: The run has been claimed under a higher number.
            VersionConflict: The file holds another version of the run, and not these entries.
            StorageError: SQLite failed, or an entry cannot be written as JSON.
        """
        kept = tuple(entries)
        await self._worker.run(
            lambda c: append_entries(c, self.tenant, run, kept, expected_version, fence)
        )

    async def claim(self, run_id: str) -> int:
        """Take a run over, in one statement; see `ThoughtStore.claim`."""
        _check_id(run_id)
        return await self._worker.run(lambda c: claim_run(c, self.tenant, run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: SQLite failed, or an entry cannot be read.
        """
        _check_id(run_id)
        return await self._worker.run(lambda c: load_run(c, self.tenant, run_id))

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`.

        SQLite tells nobody of new entries, so this looks for them, some times a second.
        """
        _check_id(run_id)

        async def read(known: int) -> Sequence[Entry]:
            return await self._worker.run(lambda c: read_entries(c, self.tenant, run_id, known))

        async with aclosing(follow_by_looking(run_id, read, after=after)) as steps:
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first.

        Pages follow the order by time: a run that is updated while somebody pages moves to the
        front, is not repeated on a later page, and is found by listing again.

        Raises:
            ConfigurationError: The cursor is not one of this file and tenant.
        """
        return await self._worker.run(lambda c: list_recent(c, self.tenant, limit, cursor))

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to, or
                `sifaka-mcp[embeddings]` is not installed.
        """
        meaning, failed = await self._embedded(query)
        if meaning is None:
            hits = await self._worker.run(
                lambda c: search_versions(c, self.tenant, query, limit, only)
            )
            return hits.model_copy(update={"search": hits.search + failed})
        return await self._worker.run(lambda c: search_both(c, self.tenant, meaning, limit, only))

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON."""
        _check_id(run_id)
        return await self._worker.run(lambda c: size_of_run(c, self.tenant, run_id))

    async def delete(self, run_id: str) -> None:
        """Forget a run with what the index holds of it."""
        if is_unicode(run_id):  # no run has another id, and SQLite cannot be asked for it
            await self._worker.run(lambda c: delete_run(c, self.tenant, run_id))

    async def catch_up(self) -> int:
        """Embed some versions that have no vector of the embedder's model yet, of all tenants.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to, or
                `sifaka-mcp[embeddings]` is not installed.
            StorageError: The embedder or SQLite failed.
        """
        return await embed_batch(self._worker, self._embedder) if self._embedder else 0

    async def drop_vectors(self, model_id: str) -> None:
        """Forget the vectors of a model that is not used any more, of all tenants.

        A store whose embedder was replaced keeps the old ones, and has them again when it returns.
        """
        await self._worker.run(lambda c: drop_table(c, model_id))

    async def health(self) -> tuple[Health, ...]:
        """Whether the file can be read and written at this moment, and what the embedder does."""
        file = await _checked(self.place, self._worker.run(look))
        if self._embedder is None:
            return (file,)
        part = f"{self.place} vectors of {self._embedder.model_id}"
        return file, await _checked(part, look_at_vectors(self._worker, self._embedder))

    def scoped(self, tenant: str) -> "SQLiteStorage":
        """The same file as another tenant sees it, over the same connection."""
        return SQLiteStorage(self.path, tenant=tenant, embedder=self._embedder, worker=self._worker)

    async def aclose(self) -> None:
        """Close the file, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self._worker.aclose()

    async def _embedded(self, query: str) -> tuple[Question | None, str]:
        """The query with its vector; without one, what to say about it."""
        if self._embedder is None or not query_words(query):
            return None, ""
        try:
            vector = await embed_query(self._embedder, query)
        except EmbeddingError as error:
            return None, without_meaning(error)
        return Question(query, self._embedder.model_id, vector), ""


async def _checked(part: str, looking: Awaitable[str]) -> Health:
    try:
        with fail_after(_PATIENCE):
            return Health(part=part, works=True, found=await looking)
    except SifakaError as error:
        return Health(part=part, works=False, found=str(error))
    except TimeoutError:
        return Health(part=part, works=False, found=f"no answer within {_PATIENCE} s; try again")


def _check_id(run_id: str) -> None:
    if not is_unicode(run_id):
        raise ThoughtNotFound(run_id)
