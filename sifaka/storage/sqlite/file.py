"""Opening and closing a SQLite file so that what it acknowledged stays, and saying why it failed.

The only module that imports apsw when it is imported; it is imported when a store is first used.
"""

import errno
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.storage.log_repair import identity_of
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import RUNS, Schema

BUSY_SECONDS = 5.0
"""Seconds to wait for other processes that write to the same file."""
IN_MEMORY = Path(":memory:")
"""A database without a file."""
_RETRY_SECONDS = 0.01
_CREATING = threading.Lock()
_PRAGMAS = (
    "journal_mode = WAL",
    # NORMAL would be ten times faster and lose the last appends when the power fails.
    "synchronous = FULL",
    # On macOS a plain fsync leaves the data in the drive's cache.
    "fullfsync = ON",
    "foreign_keys = ON",
    # What is deleted is overwritten: a forgotten text is not left on a free page.
    "secure_delete = ON",
)
_FULL = ("does not fit on the disk any more", "free some space and try again")
_REASONS: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.BusyError, "is kept locked by another process", "try again, or end that process"),
    (apsw.NotADBError, "is not a SQLite database", "name another file in the store's URL"),
    (apsw.CorruptError, "is damaged", "restore it from a backup, or move it away to start anew"),
    (apsw.ReadOnlyError, "cannot be written", "allow writing to the file and to its folder"),
    (apsw.CantOpenError, "cannot be opened", "name a file in a folder that you may write to"),
)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """An open store file, its schema up to date."""

    path: Path
    sql: SqlConnection
    identity: str
    schema: Schema

    @property
    def current(self) -> bool:
        """True while it is still what was opened.

        Otherwise it was deleted or replaced, and what is written is lost; or a newer release has
        upgraded it, and what is written would not be as that one needs it.
        """
        return identity_of(self.path) == self.identity and self.schema.is_current(self.sql)


def open_file(path: Path, schema: Schema = RUNS) -> OpenFile:
    """The database in this file, created for its owner's eyes only if there is none."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            with failures(path):
                _create(path)
                if _is_read_only(path):
                    return _connect_to_read(path, schema)
                return _connect(path, schema)
        except StorageError as error:
            # SQLite does not wait by itself while another process switches a fresh file to WAL.
            if not error.retryable or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def close_file(file: OpenFile) -> None:
    """Release the file; the last process that does so also folds the write-ahead log into it."""
    with failures(file.path):
        file.sql.close()


@contextmanager
def failures(path: Path) -> Generator[None]:
    """Translate what SQLite and the file system raise into errors that say what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _translated(path, error) from error
    except OSError as error:
        what, advice = (
            f"cannot be opened: {error.strerror}",
            "name a file in a folder that you may write to",
        )
        if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", None)}:
            what, advice = _FULL
        raise StorageError(f"the store {str(path)!r} {what}", advice) from error


def _create(path: Path) -> None:
    # Under a lock, because closing a file drops all locks that this process holds on it: no other
    # connection may appear between creating and closing. SQLite gives its log the same permissions.
    if path == IN_MEMORY:
        return
    with _CREATING:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return


@contextmanager
def _connected(path: Path, schema: Schema, place: str, flags: int) -> Generator[OpenFile]:
    """A connection to a file that is ours, which is closed where what is done within it fails."""
    identity = identity_of(path)
    with _CREATING:
        connection = apsw.Connection(place, flags=flags)
    try:
        connection.set_busy_timeout(round(BUSY_SECONDS * 1000))
        schema.check(connection, repr(str(path)))
        yield OpenFile(path, connection, identity, schema)
    except BaseException:
        connection.close()
        raise


def _connect(path: Path, schema: Schema) -> OpenFile:
    with _connected(path, schema, str(path), apsw.SQLITE_OPEN_READWRITE) as file:
        if file.sql.readonly("main"):
            raise apsw.ReadOnlyError("attempt to write a readonly database")
        for pragma in _PRAGMAS:
            # One by one and to the last row: one that answers holds up those behind it.
            file.sql.execute(f"PRAGMA {pragma}").fetchall()
        schema.prepare(file.sql)
        return file


def _is_read_only(path: Path) -> bool:
    """True when this process may read a file and not write to it, or not to its folder."""
    return path != IN_MEMORY and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def _connect_to_read(path: Path, schema: Schema) -> OpenFile:
    """A file that cannot be written, such as one on a read-only mount.

    Its write-ahead log is read where the index of the log is there. Without a log the file is as
    it stays, since nothing here can change it.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        if not path.with_name(f"{path.name}-shm").exists():
            raise StorageError(
                f"the store {str(path)!r} cannot be written, and its last changes are in its log",
                "open it once where its folder can be written: `sifaka history` is enough",
            )
        options = "mode=ro"
    else:
        options = "immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    place = f"{path.absolute().as_uri()}?{options}"
    with _connected(path, schema, place, flags) as file:
        return file


def _full(error: apsw.Error) -> bool:
    return (
        isinstance(error, apsw.FullError)
        # The index of the write-ahead log is a file as well, and has no room to grow.
        or getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE
        # What an extension says, under a code for any failure.
        or "disk is full" in str(error)
    )


def _translated(path: Path, error: apsw.Error) -> SifakaError:
    what, advice = next(
        (reason for kind, *reason in _REASONS if isinstance(error, kind)),
        (f"failed: {error}", "check the file and its disk"),
    )
    if _full(error):
        what, advice = _FULL
    message = f"the store {str(path)!r} {what}"
    if isinstance(error, apsw.NotADBError):
        return ConfigurationError(message, advice)
    return StorageError(message, advice, retryable=isinstance(error, apsw.BusyError))
