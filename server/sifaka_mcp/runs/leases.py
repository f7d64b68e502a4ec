"""Leases: how other processes see that a run is worked on in this one."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from sifaka.storage.files.durable import LockFile
from sifaka.storage.files.folder import file_name


class RunKey(NamedTuple):
    """The identity of a run among those of all tenants."""

    tenant: str
    run_id: str


class Leases(Protocol):
    """Leases on the runs that a process works on, each for as long as the process lives.

    No method raises an error of the place where leases are kept: a run goes on without one.
    """

    @property
    def renewal(self) -> float | None:
        """Seconds after which a lease is taken again; None when it lasts as long as its process."""
        ...

    async def take(self, key: RunKey) -> None:
        """Take a lease, or take it again."""
        ...

    async def let_go(self, key: RunKey) -> None:
        """Give a lease up."""
        ...

    async def held(self, key: RunKey) -> bool:
        """True when a process works on a run."""
        ...


class FileLeases:
    """Leases as locked files, which the processes of one machine see.

    The system unlocks the files of a process that ends.

    Args:
        folder: Where the files are; it is made with the first one.
    """

    renewal = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[RunKey, LockFile] = {}

    async def take(self, key: RunKey) -> None:
        """See `Leases.take`. Without rights to the folder there is no lease."""
        with suppress(OSError):
            if key not in self._locks and (lock := self._lock(key)) is not None:
                self._locks[key] = lock

    async def let_go(self, key: RunKey) -> None:
        """See `Leases.let_go`."""
        if (lock := self._locks.pop(key, None)) is not None:
            lock.release()

    async def held(self, key: RunKey) -> bool:
        """See `Leases.held`."""
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
