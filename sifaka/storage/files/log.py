"""The log of runs in plain files: the episodic record."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.files import recent as listing
from sifaka.storage.files import runs
from sifaka.storage.files.failures import failures
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.index import Index
from sifaka.storage.log import Health, RunPage, follow_by_polling
from sifaka.storage.threads import Threads

T = TypeVar("T")
_READERS = 4


class FileLog:
    """A `RunLog` of JSON Lines files, `<folder>/<tenant>/<run>.jsonl`, an entry each line.

    Any program can read them; `sifaka.storage.files.record` tells their form. Several processes may
    use a folder at the same time. An append that has returned survives the end of the process and
    of the power supply; one that was interrupted leaves nothing. Folders and files are created on
    first use, for their owner only, and no file stays open.

    The first list reads all runs; later lists read those that have changed.

    Args:
        folder: Where the files are; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, folder: str | Path, *, tenant: str = "default") -> None:
        self.folder = Path(folder).absolute()
        self.tenant = tenant
        self._files = TenantFolder(self.folder, tenant)
        self._index = Index()
        # Who writes has the lock to themselves anyway.
        self._writers = Threads("sifaka.storage.files.writers", 1)
        self._readers = Threads("sifaka.storage.files.readers", _READERS)

    @property
    def place(self) -> str:
        """Its URL."""
        return f"file:///{self.folder}"

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `RunLog.append`."""
        kept = tuple(entries)
        await self._write(
            lambda: runs.append_entries(
                self._files, self._index, run, kept, expected_version, fence
            )
        )

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `RunLog.claim`."""
        return await self._write(lambda: runs.claim_run(self._files, self._index, run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self._read(lambda: runs.load_run(self._files, run_id))

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `RunLog.follow`."""

        async def read(version: int) -> Sequence[Entry]:
            return await self._read(
                lambda: runs.entries_after(self._files, self._index, run_id, version)
            )

        async with aclosing(follow_by_polling(run_id, read, after=after)) as entries:
            async for step in entries:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self._read(
            lambda: listing.list_recent(self._files, self._index, limit, cursor)
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run's file."""
        return await self._read(lambda: runs.size_of(self._files, self._index, run_id))

    async def delete(self, run_id: str) -> None:
        """Remove a run's file."""
        await self._write(lambda: runs.delete_run(self._files, run_id))

    async def catch_up(self) -> int:
        """Nothing is put off."""
        return 0

    async def health(self) -> tuple[Health, ...]:
        """Whether the tenant's folder can be written, and how many runs are in it."""

        def look() -> str:
            with self._files.writing():
                return f"{len(self._files.run_files())} runs in {str(self._files.path)!r}"

        try:
            works, found = True, await self._write(look)
        except StorageError as error:
            works, found = False, str(error)
        return (Health(part=self.place, works=works, found=found),)

    def scoped(self, tenant: str) -> "FileLog":
        """The same folder as another tenant sees it."""
        view = FileLog(self.folder, tenant=tenant)
        view._index = self._index
        view._writers, view._readers = self._writers, self._readers
        return view

    async def aclose(self) -> None:
        """Nothing to release."""

    async def _write(self, work: Callable[[], T]) -> T:
        with failures(self.folder):
            return await self._writers.run(work)

    async def _read(self, work: Callable[[], T]) -> T:
        with failures(self.folder):
            return await self._readers.run(work)
