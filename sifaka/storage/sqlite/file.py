"""Opening and closing a SQLite file so that what it acknowledged stays, and saying why it failed.

The only module that imports apsw when it is imported; it is imported when a store is first used.
"""

import errno
import logging
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.storage.files.durable import LockFile
from sifaka.storage.sqlite.connection import RUNS, Schema, SqlConnection
from sifaka.storage.store import identity_of

logger = logging.getLogger(__name__)
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
    """A connection, which is closed where what is done within it fails or the file was moved."""
    identity = identity_of(path)
    with _CREATING:
        connection = apsw.Connection(place, flags=flags)
    try:
        connection.set_busy_timeout(round(BUSY_SECONDS * 1000))
        yield OpenFile(path, connection, identity, schema)
        if identity_of(path) != identity:
            raise _moved(path)
    except BaseException as error:
        connection.close()
        if isinstance(error, apsw.Error) and identity_of(path) != identity:
            raise _moved(path) from error
        raise


def _moved(path: Path) -> StorageError:
    return StorageError(
        f"the store {str(path)!r} is set aside or replaced by another process",
        "try again",
        retryable=True,
    )


def _connect(path: Path, schema: Schema) -> OpenFile:
    """The open file; one of an older form is set aside before."""
    with _connected(path, schema, str(path), apsw.SQLITE_OPEN_READWRITE) as file:
        sql = file.sql
        if sql.readonly("main"):
            raise apsw.ReadOnlyError("attempt to write a readonly database")
        older = 0 < schema.check(sql, repr(str(path))) < schema.number
        if not older:
            for pragma in _PRAGMAS:
                # One by one and to the last row: one that answers holds up those behind it.
                sql.execute(f"PRAGMA {pragma}").fetchall()
            schema.prepare(sql)
            return file
        sql.close()
    _set_aside(path, schema)
    return _connect(path, schema)


def _set_aside(path: Path, schema: Schema) -> None:
    """Give a file of an older form a name of its own, unless another process just did.

    Its entries are not changed. SQLite finds the journal and the log of a file by its name: whoever
    opened this one just before it was moved takes those of the new one for its own, and rolls back
    or folds into it what they say. So one process at a time moves it, only a file that cannot be
    moved meanwhile is written, and the new one is complete before it gets the name: it has no
    journal, and its log does no harm to somebody who only reads.
    """
    lock = LockFile.take(path.with_name(f"{path.name}-lock"))
    if lock is None:
        raise _moved(path)
    try:
        with _connected(path, schema, str(path), apsw.SQLITE_OPEN_READWRITE) as file:
            form = schema.check(file.sql, repr(str(path)))
            if 0 < form < schema.number:
                # Its log becomes part of it, unless another process has it open.
                file.sql.execute("PRAGMA journal_mode = DELETE").fetchall()
            file.sql.close()
        if not 0 < form < schema.number:
            return
        aside, fresh = (path.with_name(f"{path.name}{end}") for end in (f".schema-{form}", "-new"))
        with suppress(FileExistsError):
            os.link(path, aside)
        if not aside.samefile(path):
            raise StorageError(
                f"the store {str(path)!r} has the older schema {form}, and {str(aside)!r} is there",
                "move one of them away",
            )
        _create(fresh)
        _connect(fresh, schema).sql.close()
        fresh.replace(path)
    finally:
        lock.release()
    logger.warning("%r has the older schema %d and is now %r", str(path), form, str(aside))


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
        schema.check(file.sql, repr(str(path)))
        if not schema.is_current(file.sql):
            raise StorageError(
                f"the store {str(path)!r} cannot be written, and has an older schema",
                "name another file in the store's URL",
            )
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
