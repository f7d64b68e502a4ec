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
from pathlib import Path

import apsw

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.storage.files.durable import LockFile
from sifaka.storage.sqlite.connection import Schema, SqlConnection
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
_REASONS: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.BusyError, "is kept locked by another process", "try again, or end that process"),
    (apsw.NotADBError, "is not a SQLite database", "name another file in the store's URL"),
    (apsw.CorruptError, "is damaged", "restore it from a backup, or move it away to start anew"),
    (apsw.ReadOnlyError, "cannot be written", "allow writing to the file and to its folder"),
    (apsw.CantOpenError, "cannot be opened", "name a file in a folder that you may write to"),
)


def open_file(path: Path, schema: Schema) -> tuple[SqlConnection, str]:
    """The database in this file, created for its owner's eyes only if there is none.

    Its schema is up to date. The second value is the file's identity, see `identity_of`.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            _create_file(path)
            read_only = path != IN_MEMORY and not all(
                os.access(each, os.W_OK) for each in (path, path.parent)
            )
            return (_connect_to_read if read_only else _connect)(path, schema)
        except (apsw.BusyError, StorageError) as error:
            # SQLite does not wait by itself while another process switches a fresh file to WAL.
            final = isinstance(error, StorageError) and not error.retryable
            if final or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def translate(path: Path, error: Exception) -> SifakaError | None:
    """What SQLite or the file system has raised, as an error that says what to do."""
    if not isinstance(error, apsw.Error | OSError):
        return None
    what, advice = next(
        (reason for kind, *reason in _REASONS if isinstance(error, kind)),
        (f"failed: {error}", "check the file and its disk"),
    )
    if isinstance(error, OSError):
        what = f"cannot be opened: {error.strerror}"
        advice = "name a file in a folder that you may write to"
    if _is_full(error):
        what, advice = "does not fit on the disk any more", "free some space and try again"
    message = f"the store {str(path)!r} {what}"
    if isinstance(error, apsw.NotADBError):
        return ConfigurationError(message, advice)
    return StorageError(message, advice, retryable=isinstance(error, apsw.BusyError))


def _is_full(error: apsw.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", None)}
    return (
        isinstance(error, apsw.FullError)
        # The index of the write-ahead log is a file as well, and has no room to grow.
        or getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE
        # What an extension says, under a code for any failure.
        or "disk is full" in str(error)
    )


def _create_file(path: Path) -> None:
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
def _open_connection(path: Path, name: str, flags: int) -> Generator[tuple[SqlConnection, str]]:
    """A connection, which is closed where what is done within it fails or the file was moved."""
    identity = identity_of(path)
    with _CREATING:
        connection = apsw.Connection(name, flags=flags)
    try:
        connection.set_busy_timeout(round(BUSY_SECONDS * 1000))
        yield connection, identity
        if identity_of(path) != identity:
            raise _moved_error(path)
    except BaseException as error:
        connection.close()
        if isinstance(error, apsw.Error) and identity_of(path) != identity:
            raise _moved_error(path) from error
        raise


def _moved_error(path: Path) -> StorageError:
    return StorageError(
        f"the store {str(path)!r} is set aside or replaced by another process",
        "try again",
        retryable=True,
    )


def _connect(path: Path, schema: Schema) -> tuple[SqlConnection, str]:
    """The open file; one of an older form is set aside before."""
    with _open_connection(path, str(path), apsw.SQLITE_OPEN_READWRITE) as (sql, identity):
        if sql.readonly("main"):
            raise apsw.ReadOnlyError("attempt to write a readonly database")
        form = schema.check(sql, repr(str(path)))
        if not 0 < form < schema.number:
            for pragma in _PRAGMAS:
                # One by one and to the last row: one that answers holds up those behind it.
                sql.execute(f"PRAGMA {pragma}").fetchall()
            if not form:
                schema.prepare(sql)
            return sql, identity
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
        raise _moved_error(path)
    try:
        with _open_connection(path, str(path), apsw.SQLITE_OPEN_READWRITE) as (sql, _):
            form = schema.check(sql, repr(str(path)))
            if 0 < form < schema.number:
                # Its log becomes part of it, unless another process has it open.
                sql.execute("PRAGMA journal_mode = DELETE").fetchall()
            sql.close()
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
        _create_file(fresh)
        _connect(fresh, schema)[0].close()
        fresh.replace(path)
    finally:
        lock.release()
    logger.warning("%r has the older schema %d and is now %r", str(path), form, str(aside))


def _connect_to_read(path: Path, schema: Schema) -> tuple[SqlConnection, str]:
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
    uri = f"{path.absolute().as_uri()}?{options}"
    with _open_connection(path, uri, flags) as (sql, identity):
        if schema.check(sql, repr(str(path))) != schema.number:
            raise StorageError(
                f"the store {str(path)!r} cannot be written, and has an older schema",
                "name another file in the store's URL",
            )
        return sql, identity
