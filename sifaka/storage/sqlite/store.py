"""A store in one SQLite file: the embedded default."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.embedding import embed_words
from sifaka.storage.log import look_at
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage
from sifaka.storage.sqlite.connection import SqlConnection, SQLiteWorker
from sifaka.storage.sqlite.log import (
    SECONDS,
    append_entries,
    claim_run,
    delete_runs,
    describe_file,
    erase_traces,
    list_recent,
    load_run,
    read_entries,
    truncate_log,
)
from sifaka.storage.sqlite.search import (
    SLICE,
    catch_up_at_close,
    catch_up_words,
    check_package,
    embed_batch,
    search_versions,
)
from sifaka.storage.store import PolledStore, RepairingStore, identity_of
from sifaka.text.input import is_unicode

P = ParamSpec("P")
T = TypeVar("T")


class SQLiteStorage(RepairingStore, PolledStore):
    """A `ThoughtStore` in a file that several processes may have open at the same time.

    An append that has returned survives the end of the process and of the power supply. The words
    of its versions are indexed by `catch_up`, the next search or `aclose`, their vectors made by
    `catch_up`. The file and its folder are created on first use, readable by their owner only.

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
        if embedder is not None:
            check_package()
        self.path = Path(path).absolute()
        super().__init__(tenant)
        self.worker = SQLiteWorker(self.path, at_close=catch_up_at_close)
        self._embedder = embedder

    @property
    def place(self) -> str:
        """Its URL."""
        return f"sqlite:///{self.path}"

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        await self.worker.run(
            lambda c: append_entries(c, self.tenant, run, entries, expected_version, fence)
        )

    async def _identity(self) -> str:
        return identity_of(self.path)

    async def claim(self, run_id: str) -> int:
        """Take a run over, in one statement; see `ThoughtStore.claim`."""
        return await self._ask(claim_run, run_id)

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self._ask(load_run, run_id)

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""
        return await self._ask(read_entries, run_id, version)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self.worker.run(lambda c: list_recent(c, self.tenant, limit, cursor))

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to, or
                `sifaka-mcp[embeddings]` is not installed.
            StorageError: SQLite failed.
        """
        vector, failed = await embed_words(self._embedder, query)
        model_id = self._embedder.model_id if self._embedder else ""
        search = partial(search_versions, model_id=model_id, vector=vector)
        hits = await self.worker.run(lambda c: search(c, self.tenant, query, limit, only))
        return hits.model_copy(update={"search": hits.search + failed})

    async def delete(self, run_id: str) -> None:
        """Delete a run with its words and vectors."""
        self._acknowledged.evict(self.tenant, run_id)
        if is_unicode(run_id):  # no run has another id, and SQLite cannot be asked for it
            await self.worker.run(lambda c: delete_runs(c, self.tenant, {run_id: None}))
            await self.worker.run(truncate_log)

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs in one transaction; without any, clean and shrink the file. See `Eraser`."""
        moments = {line.run_id: line.updated_at for line in lines}
        if not moments:
            await self.worker.run(partial(erase_traces, seconds=math.inf, whole=True))
            return frozenset()
        stayed = await self.worker.run(lambda c: delete_runs(c, self.tenant, moments))
        self._acknowledged.evict(self.tenant, *(moments.keys() - stayed))
        return stayed

    async def catch_up(self) -> int:
        """Index some versions that have no words, and embed some that have no vector of the model.

        It is for all tenants. Without an embedder, a file that is not open stays closed.
        """
        if self._embedder is None and not self.worker.used:
            return 0
        await super().catch_up()
        left = await self.worker.run(partial(catch_up_words, seconds=SLICE))
        left += await self.worker.run(partial(erase_traces, seconds=SECONDS))
        if self._embedder is not None:
            left += await embed_batch(self.worker, self._embedder)
        return left

    async def health(self) -> tuple[Health, ...]:
        """The file, by a trial of reading and writing it."""
        return (await look_at(self.place, lambda: self.worker.run(describe_file)),)

    async def _release(self) -> None:
        await self.worker.aclose()

    async def _ask(
        self,
        work: Callable[Concatenate[SqlConnection, str, str, P], T],
        run_id: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """The answer of a function about a run of the tenant."""
        if not is_unicode(run_id):
            raise ThoughtNotFound(run_id)
        return await self.worker.run(lambda c: work(c, self.tenant, run_id, *args, **kwargs))
