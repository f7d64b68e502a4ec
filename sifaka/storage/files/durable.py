"""Writing to files, one writer at a time: what was written stays, and a failure leaves nothing.

Any id is the name of a file that is safe, and its own, on every file system.
"""

import errno
import os
import sys
import time
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from sifaka.errors import StorageError
from sifaka.storage.store import Worker

Stamp = tuple[int, int, int]
"""Time of change, size and number of a file: as long as they are the same, so is its content."""
_BINARY: int = getattr(os, "O_BINARY", 0)
_OPEN: int = os.O_RDWR | os.O_CREAT | _BINARY
_NONE = (0, 0, 0)
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


def stamp_of(path: Path | int) -> Stamp:
    """The state that a file, or an open descriptor, is in; all 0 when there is no file."""
    try:
        status = os.stat(path)  # noqa: PTH116 # takes a descriptor as well
    except FileNotFoundError:
        return _NONE
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_stamped(path: Path) -> tuple[bytes, Stamp]:
    """A file's content, empty when there is none, and the state it was in or a later one."""
    try:
        with path.open("rb") as file:
            stamp = stamp_of(file.fileno())
            return file.read(), stamp
    except FileNotFoundError:
        return b"", _NONE


def write_end(path: Path, keep: int, addition: bytes) -> Stamp:
    """Replace what follows the first `keep` bytes of a file, durably; without a file, create it.

    Only its owner may read it. When that fails, the file has its first `keep` bytes and no more.
    """
    with _open_descriptor(path, _OPEN) as descriptor:
        try:
            os.ftruncate(descriptor, keep)
            os.lseek(descriptor, keep, os.SEEK_SET)
            rest = memoryview(addition)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            _flush_to_disk(descriptor)
        except OSError:
            # On a file system that refuses this as well, reading leaves half an append out.
            with suppress(OSError):
                os.ftruncate(descriptor, keep)
                _flush_to_disk(descriptor)
                if not keep:
                    path.unlink()
            raise
        stamp = stamp_of(descriptor)
    settle_folder(path.parent)
    return stamp


def settle(path: Path) -> None:
    """Make an earlier write to a file durable; its process may have been killed before it did."""
    with _open_descriptor(path, os.O_RDWR | _BINARY) as descriptor:
        _flush_to_disk(descriptor)
    settle_folder(path.parent)


def settle_folder(folder: Path) -> None:
    """Make the names in a folder as durable as the files; Windows does so by itself."""
    if sys.platform == "win32":
        return
    with _open_descriptor(folder, os.O_RDONLY) as descriptor:
        _flush_to_disk(descriptor)


def remove(paths: Iterable[Path]) -> None:
    """Remove files, many at once: a disk that discards freed blocks takes milliseconds for each.

    Raises:
        OSError: One could not be removed; the others may be gone.
    """
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(partial(Path.unlink, missing_ok=True), paths))


class FolderWorker(Worker[Path]):
    """Runs functions on the files of a folder.

    Args:
        folder: The folder.
        most: How many functions are at work.
    """

    def __init__(self, folder: Path, most: int) -> None:
        super().__init__(f"the store {str(folder)!r}", most)
        self._folder = folder

    def _open(self, current: Path | None) -> Path:
        return self._folder

    def _close(self, opened: Path) -> None:
        """No file stays open."""

    def _translate(self, error: Exception) -> StorageError | None:
        if not isinstance(error, OSError):
            return None
        if error.errno in _FULL:
            what, advice = "does not fit on the disk any more", "free some space and try again"
        elif error.errno in _NO_LOCKS:
            what = f"cannot be locked: {error.strerror}"
            advice = "name a folder on a file system that has locks"
        else:
            what = f"cannot be used: {error.strerror or error}"
            advice = "name a folder that you may read and write"
        return StorageError(f"the store {str(self._folder)!r} {what}", advice)


@contextmanager
def _open_descriptor(path: Path, flags: int) -> Generator[int]:
    descriptor = os.open(path, flags, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _flush_to_disk(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # There a plain fsync leaves the data in the drive's cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


BUSY_SECONDS = 5.0
"""Seconds to wait for another writer."""

if sys.platform == "win32":
    import msvcrt

    # Beyond the end of the file: on Windows no other process can read what is locked.
    _LOCK_OFFSET = 2**30

    _TAKE, _GIVE_BACK = msvcrt.LK_NBLCK, msvcrt.LK_UNLCK

    def _lock(descriptor: int, mode: int) -> None:
        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(descriptor, mode, 1)

else:
    import fcntl

    _TAKE, _GIVE_BACK = fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN
    _lock = fcntl.flock


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Lock a file exclusively; it is created if there is none.

    The system takes the lock from a process that ends, however it ends.

    Raises:
        StorageError: Another writer has kept it locked for `BUSY_SECONDS`; trying again may help.
        OSError: It cannot be opened.
    """
    with _open_descriptor(path, _OPEN) as descriptor:
        deadline = time.monotonic() + BUSY_SECONDS
        while not _try_to_lock(descriptor):
            if time.monotonic() > deadline:
                raise StorageError(
                    f"the store {str(path.parent)!r} is kept locked by another process",
                    "try again, or end that process",
                    retryable=True,
                )
            time.sleep(0.002)
        try:
            yield
        finally:
            _lock(descriptor, _GIVE_BACK)


@dataclass(frozen=True, slots=True)
class LockFile:
    """A file that this process has locked, until it is released or the process ends."""

    path: Path
    descriptor: int

    @classmethod
    def take(cls, path: Path) -> "LockFile | None":
        """The lock, or None when it is taken, in this process or another; the file is created.

        Raises:
            OSError: It cannot be opened.
        """
        while True:
            descriptor = os.open(path, _OPEN, 0o600)
            if not _try_to_lock(descriptor):
                os.close(descriptor)
                return None
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return cls(path, descriptor)
            os.close(descriptor)  # its last owner has removed it since it was opened

    def release(self) -> None:
        """Give it up, and remove the file."""
        with suppress(OSError):  # on Windows it is open still; an empty file stays there
            self.path.unlink()
        _lock(self.descriptor, _GIVE_BACK)
        os.close(self.descriptor)


def _try_to_lock(descriptor: int) -> bool:
    """Lock a file; False where it is locked already, which systems say in either way."""
    try:
        _lock(descriptor, _TAKE)
    except (BlockingIOError, PermissionError):
        return False
    return True


_SAFE_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
"""The devices of Windows, whatever extension a name has."""


def file_name(identifier: str) -> str:
    """The id, percent-encoded but for small letters, digits, `_` and `-`.

    No two ids share a name, not even where capitals do not count, and none is `.`, `..` or hidden.
    Of a long id the name has the beginning and a SHA-256.
    """
    octets = identifier.encode("utf-8", "surrogatepass")
    name = "".join(chr(octet) if octet in _SAFE_BYTES else f"%{octet:02x}" for octet in octets)
    if name in _DEVICES:
        return f"%{octets[0]:02x}{name[1:]}"
    if len(name) > 120:
        # `%-` is in no other name: elsewhere two hexadecimal digits follow a `%`.
        return f"{name[:40]}%-{sha256(octets).hexdigest()}"
    return name or "%"
