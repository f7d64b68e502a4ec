"""The log of runs in one SQLite file: the embedded default."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import cast

from anyio import fail_after

from sifaka.errors import SifakaError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import Health, RunPage, follow_by_polling
from sifaka.storage.sqlite import runs
from sifaka.storage.sqlite.connection import SqlConnection, transaction
from sifaka.storage.sqlite.worker import SQLiteWorker
from sifaka.text.input import is_unicode

PATIENCE = 5
"""Seconds after which a part that has not answered does not work."""


class SQLiteLog:
    """A `RunLog` in a file that several processes may have open at the same time.

    An append that has returned survives the end of the process and of the power supply. It indexes
    the words of its versions in the same transaction, for `SQLiteIndex`. The file and its folder
    are created on first use, readable by their owner only.

    Args:
        path: The file; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
        worker: The connection to share, for a view of a log that is already there.
    """

    def __init__(
        self, path: str | Path, *, tenant: str = "default", worker: SQLiteWorker | None = None
    ) -> None:
        self.path = Path(path).absolute()
        self.tenant = tenant
        self.worker = worker or SQLiteWorker(self.path)
        self._owned = worker is None

    @property
    def place(self) -> str:
        """Its URL."""
        return f"sqlite:///{self.path}"

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `RunLog.append`.

        Raises:
            Fenced: The run has been claimed under a higher number.
            VersionConflict: The file holds another version of the run, and not these entries.
            StorageError: SQLite failed, or an entry cannot be written as JSON.
        """
        kept = tuple(entries)
        await self.worker.run(
            lambda c: runs.append_entries(c, self.tenant, run, kept, expected_version, fence)
        )

    async def claim(self, run_id: str) -> int:
        """Take a run over, in one statement; see `RunLog.claim`."""
        _check_id(run_id)
        return await self.worker.run(lambda c: runs.claim_run(c, self.tenant, run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry.

        Raises:
            ThoughtNotFound: This tenant has no such run.
            StorageError: SQLite failed, or an entry cannot be read.
        """
        _check_id(run_id)
        return await self.worker.run(lambda c: runs.load_run(c, self.tenant, run_id))

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `RunLog.follow`.

        SQLite wakes no follower, so this looks for new entries five times a second.
        """
        _check_id(run_id)

        async def read(known: int) -> Sequence[Entry]:
            return await self.worker.run(lambda c: runs.read_entries(c, self.tenant, run_id, known))

        async with aclosing(follow_by_polling(run_id, read, after=after)) as steps:
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front.

        Raises:
            ConfigurationError: The cursor is not one of this file and tenant.
        """
        return await self.worker.run(lambda c: runs.list_recent(c, self.tenant, limit, cursor))

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON."""
        _check_id(run_id)
        return await self.worker.run(lambda c: runs.size_of_run(c, self.tenant, run_id))

    async def delete(self, run_id: str) -> None:
        """Delete a run with its words and vectors in the index."""
        if is_unicode(run_id):  # no run has another id, and SQLite cannot be asked for it
            await self.worker.run(lambda c: runs.delete_run(c, self.tenant, run_id))

    async def catch_up(self) -> int:
        """Nothing is put off."""
        return 0

    async def health(self) -> tuple[Health, ...]:
        """The health of the file: a trial of reading and writing it."""
        try:
            with fail_after(PATIENCE):
                found, works = await self.worker.run(_look), True
        except SifakaError as error:
            found, works = str(error), False
        except TimeoutError:
            found, works = f"no answer within {PATIENCE} s; try again", False
        return (Health(part=self.place, works=works, found=found),)

    def scoped(self, tenant: str) -> "SQLiteLog":
        """The same file as another tenant sees it, over the same connection."""
        return SQLiteLog(self.path, tenant=tenant, worker=self.worker)

    async def aclose(self) -> None:
        """Close the file, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self.worker.aclose()


def _look(connection: SqlConnection) -> str:
    """The contents of the file in one line, after a look whether it can be written."""
    with transaction(connection, "IMMEDIATE"):
        count, schema, pages, page_size = cast(
            "tuple[int, int, int, int]",
            connection.execute(
                """
                SELECT (SELECT count(*) FROM runs), user_version, page_count, page_size
                FROM pragma_user_version, pragma_page_count, pragma_page_size
                """
            ).fetchone(),
        )
    return f"schema {schema}, runs: {count}, {pages * page_size / 1e6:.1f} MB"


def _check_id(run_id: str) -> None:
    if not is_unicode(run_id):
        raise ThoughtNotFound(run_id)
