"""One writer at a time, between threads and between processes."""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sifaka.errors import StorageError

BUSY_SECONDS = 5.0
"""Seconds to wait for another writer."""
_RETRY_SECONDS = 0.002
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)

if sys.platform == "win32":
    import msvcrt

    # Beyond the end of the file: on Windows no other process can read what is locked.
    _PLACE = 2**30

    def _try_to_lock(descriptor: int) -> None:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_to_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Lock a file exclusively; it is created if there is none.

    The system takes the lock from a process that ends, however it ends.

    Raises:
        StorageError: Another writer has kept it locked for `BUSY_SECONDS`; trying again may help.
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, _OPEN, 0o600)
    try:
        _lock(descriptor, path)
        try:
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


class LockFile:
    """A file that this process has locked, until it is released or the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path) -> "LockFile | None":
        """The lock, or None when it is taken, in this process or another; the file is created.

        Raises:
            OSError: It cannot be opened.
        """
        while True:
            descriptor = os.open(path, _OPEN, 0o600)
            try:
                _try_to_lock(descriptor)
            except (BlockingIOError, PermissionError):
                os.close(descriptor)
                return None
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return cls(path, descriptor)
            os.close(descriptor)  # its last owner has removed it since it was opened

    def release(self) -> None:
        """Give it up, and remove the file."""
        with suppress(OSError):  # on Windows it is open still; an empty file stays there
            self._path.unlink()
        _unlock(self._descriptor)
        os.close(self._descriptor)


def _lock(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _try_to_lock(descriptor)
        except (BlockingIOError, PermissionError) as error:
            # Systems say so in either way that it is taken.
            if time.monotonic() > deadline:
                raise _busy(path) from error
            time.sleep(_RETRY_SECONDS)


def _busy(path: Path) -> StorageError:
    return StorageError(
        f"the store {str(path.parent)!r} is kept locked by another process",
        "try again, or end that process",
        retryable=True,
    )
