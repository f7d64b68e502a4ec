"""A store in plain files: the episodic record."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.files.durable import failures
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.runs import RunFiles
from sifaka.storage.log import look_at
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.recollection import RecollectingStore, identity_of
from sifaka.storage.store import PolledStore, Threads

T = TypeVar("T")
_READERS = 4


class FileStorage(RecollectingStore, PolledStore):
    """A `ThoughtStore` of JSON Lines files, `<folder>/<tenant>/<run>.jsonl`, an entry each line.

    Any program can read them; `sifaka.storage.files.record` tells their form. Several processes may
    use a folder at the same time. An append that has returned survives the end of the process and
    of the power supply; one that was interrupted leaves nothing. Folders and files are created on
    first use, for their owner only, and no file stays open.

    The first list reads all runs; later lists read those that have changed. A search reads all.

    Args:
        folder: The folder of the files; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, folder: str | Path, *, tenant: str = "default") -> None:
        self.folder = Path(folder).absolute()
        super().__init__(tenant)
        self._runs = RunFiles(TenantFolder(self.folder, tenant))
        # A writer has the lock alone anyway.
        self._writers = Threads("sifaka.storage.files.writers", 1)
        self._readers = Threads("sifaka.storage.files.readers", _READERS)

    @property
    def place(self) -> str:
        """Its URL."""
        return f"file:///{self.folder}"

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        await self._write(lambda: self._runs.append(run, entries, expected_version, fence))

    async def _identity(self) -> str:
        return identity_of(self.folder)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        return await self._write(lambda: self._runs.claim(run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self._read(lambda: self._runs.load(run_id))

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""
        return await self._read(lambda: self._runs.entries_after(run_id, version))

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self._read(lambda: self._runs.recent(limit, cursor))

    async def size(self, run_id: str) -> int:
        """The bytes of a run's file."""
        return await self._read(lambda: self._runs.size(run_id))

    async def delete(self, run_id: str) -> None:
        """Remove a run's file."""
        self._forget((run_id,))
        await self._write(lambda: self._runs.delete({run_id: None}))

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Remove the files of runs; see `Eraser`. Their blocks are free for the file system."""
        moments = {line.run_id: line.updated_at for line in lines}
        stayed = await self._write(lambda: self._runs.delete(moments))
        self._forget(moments.keys() - stayed)
        return stayed

    async def health(self) -> tuple[Health, ...]:
        """A trial of writing to the tenant's folder, and the number of its runs."""
        return (await look_at(self.place, lambda: self._write(self._runs.describe)),)

    def scoped(self, tenant: str) -> Self:
        """The same folder as another tenant sees it."""
        view = super().scoped(tenant)
        view._runs = self._runs.of(TenantFolder(self.folder, tenant))  # noqa: SLF001 - its own class
        return view

    async def _write(self, work: Callable[[], T]) -> T:
        with failures(self.folder):
            return await self._writers.run(work)

    async def _read(self, work: Callable[[], T]) -> T:
        with failures(self.folder):
            return await self._readers.run(work)
