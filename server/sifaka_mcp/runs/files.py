"""Leases as locked files in the home folder: the system takes them from a process that ends."""

from contextlib import suppress
from pathlib import Path

from sifaka.storage.files.lock import LockFile
from sifaka.storage.files.names import file_name
from sifaka_mcp.runs.leases import RunKey, Successor


class FileLeases:
    """Leases that the processes of one machine see.

    Nobody takes a run over by itself; whoever is asked to go on with one sees whether it is
    somebody else's.

    Args:
        folder: Where the files are; it is made with the first one.
    """

    passed_on = False
    renewal = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[RunKey, LockFile] = {}

    def prepare(self) -> None:
        """Nothing takes time to load."""

    async def serve(self) -> None:
        """Nothing is ever taken over."""

    async def take(self, key: RunKey, *, deaths: int) -> None:
        """See `Leases.take`. Without rights to the folder there is no lease."""
        with suppress(OSError):
            if key not in self._locks and (lock := self._lock(key)) is not None:
                self._locks[key] = lock

    async def let_go(self, key: RunKey, *, deaths: int, successor: Successor) -> None:
        """See `Leases.let_go`; a successor has to be asked to go on."""
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

    async def stop_taking_over(self) -> None:
        """Nothing is ever taken over."""

    async def aclose(self) -> None:
        """Give up all that are left."""
        while self._locks:
            self._locks.popitem()[1].release()

    def _lock(self, key: RunKey) -> LockFile | None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return LockFile.take(self._path(key))

    def _path(self, key: RunKey) -> Path:
        return self._folder / f"{file_name(f'{key.tenant}/{key.run_id}')}.lock"
