"""Leases, by which other processes see that a run is worked on here."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sifaka.storage.files.durable import LockFile, file_name


class RunKey(NamedTuple):
    """The identity of a run among those of all tenants."""

    tenant: str
    run_id: str

    @property
    def name(self) -> str:
        """The name of its task in the queue."""
        # The id first: what stands before a colon could be one of the queue's own names.
        return f"{self.run_id}@{self.tenant}"


class FileLeases:
    """Leases as locked files, which the processes of one machine see.

    The system unlocks the files of a process that ends. No method raises an error of the place
    where leases are kept: a run goes on without one.

    Args:
        folder: Where the files are; it is made with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[RunKey, LockFile] = {}

    async def claim(self, key: RunKey) -> bool:
        """Take a lease that no process holds; False when one does, or has been faster.

        Without rights to the folder any process may go on.
        """
        try:
            if key in self._locks or (lock := self._lock(key)) is None:
                return False
        except OSError:
            return True
        self._locks[key] = lock
        return True

    async def let_go(self, key: RunKey) -> None:
        """Give a lease up."""
        if (lock := self._locks.pop(key, None)) is not None:
            lock.release()

    async def held(self, key: RunKey) -> bool | None:
        """True when a process works on a run; None when that cannot be found out now."""
        if key in self._locks:
            return True
        with suppress(OSError):
            if not self._path(key).exists():
                return False
            if (lock := self._lock(key)) is None:
                return True
            lock.release()
        return False

    def _lock(self, key: RunKey) -> LockFile | None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return LockFile.take(self._path(key))

    def _path(self, key: RunKey) -> Path:
        return self._folder / f"{file_name(f'{key.tenant}/{key.run_id}')}.lock"
