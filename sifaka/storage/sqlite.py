"""Runs in one SQLite file: the embedded default."""

from collections.abc import Sequence
from pathlib import Path

from sifaka.entries import Entry
from sifaka.errors import ThoughtNotFound
from sifaka.run import Run
from sifaka.storage import sqlite_runs, sqlite_search
from sifaka.storage.protocol import Hits, RunPage
from sifaka.storage.sqlite_worker import SQLiteWorker


class SQLiteStorage:
    """A `ThoughtStore` in a file that several processes may have open at the same time.

    An append that has returned survives the end of the process and of the power supply. The file
    and its folder are created on first use, readable by their owner only.

    Args:
        path: The file; a relative path is resolved now.
        tenant: Whose runs are seen.
        worker: The connection to share, for a view of a store that is already there.
    """

    def __init__(
        self, path: str | Path, *, tenant: str = "default", worker: SQLiteWorker | None = None
    ) -> None:
        self.path = Path(path).absolute()
        self.tenant = tenant
        self._owned = worker is None
        self._worker = worker or SQLiteWorker(self.path)

    async def append(self, run: Run, entries: Sequence[Entry], *, expected_version: int) -> None:
        """Make entries durable, all or none; see `ThoughtStore.append`.

        Raises:
            VersionConflict: The file holds another version of the run, and not these entries.
            StorageError: SQLite failed, or an entry cannot be written as JSON.
        """
        kept = tuple(entries)
        await self._worker.run(
            lambda c: sqlite_runs.append_entries(c, self.tenant, run, kept, expected_version)
        )

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: SQLite failed, or an entry cannot be read.
        """
        try:
            run_id.encode()
        except UnicodeEncodeError:
            raise ThoughtNotFound(run_id) from None
        return await self._worker.run(lambda c: sqlite_runs.load_run(c, self.tenant, run_id))

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first.

        Pages follow the order by time: a run that is updated while somebody pages moves to the
        front, is not repeated on a later page, and is found by listing again.

        Raises:
            ConfigurationError: The cursor is not one of this file and tenant.
        """
        return await self._worker.run(
            lambda c: sqlite_runs.list_recent(c, self.tenant, limit, cursor)
        )

    async def search(self, query: str, *, limit: int) -> Hits:
        """Versions that share words with the query, best first."""
        return await self._worker.run(
            lambda c: sqlite_search.search_versions(c, self.tenant, query, limit)
        )

    def scoped(self, tenant: str) -> "SQLiteStorage":
        """The same file as another tenant sees it, over the same connection."""
        return SQLiteStorage(self.path, tenant=tenant, worker=self._worker)

    async def aclose(self) -> None:
        """Close the file, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self._worker.aclose()
