"""The file in which appends wait for a tier that has not got them yet."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.threads import Threads

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
APPLICATION_ID = 0x5346_4B51
"""Marks a file as a queue of ours: `SFKQ`."""
_SCHEMA = 1
_BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01
_CREATING = threading.Lock()
_TABLES = """
    CREATE TABLE waiting (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tier TEXT NOT NULL,
        tenant TEXT NOT NULL,
        run_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        expected_version INTEGER NOT NULL,
        fence INTEGER,
        payloads TEXT NOT NULL,
        enqueued_at INTEGER NOT NULL
    );
    CREATE INDEX waiting_by_run ON waiting (tier, tenant, run_id, id);
    CREATE TABLE refused (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        run_id TEXT NOT NULL,
        expected_version INTEGER NOT NULL,
        payloads TEXT NOT NULL,
        reason TEXT NOT NULL,
        refused_at INTEGER NOT NULL
    );
    CREATE INDEX refused_by_run ON refused (tenant, run_id, id);
    CREATE TABLE counts (tier TEXT PRIMARY KEY, waiting INTEGER NOT NULL);
    CREATE TRIGGER count_one_more AFTER INSERT ON waiting BEGIN
        INSERT INTO counts VALUES (new.tier, 1)
        ON CONFLICT (tier) DO UPDATE SET waiting = waiting + 1;
    END;
    CREATE TRIGGER count_one_less AFTER DELETE ON waiting BEGIN
        UPDATE counts SET waiting = waiting - 1 WHERE tier = old.tier;
    END;
"""


class QueueFile:
    """An SQLite file, used from worker threads, that several processes may have open.

    Args:
        path: The file, made by the first use for its owner's eyes only; None keeps it in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._closed = False
        self._threads = Threads("sifaka.storage.tiers", 1)

    @property
    def exists(self) -> bool:
        """Whether anything has ever been queued: looking for it need not make a file."""
        return self._connection is not None if self._path is None else self._path.exists()

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What the function returns, which sees one state of the file; errors as for `run`."""
        return await self._threads.run(lambda: self._run(work, "DEFERRED"))

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What the function returns, run as one transaction.

        Raises:
            ConfigurationError: The file is something else.
            StorageError: It cannot be read or written, or it is closed.
        """
        return await self._threads.run(lambda: self._run(work, "IMMEDIATE"))

    async def aclose(self) -> None:
        """Release the file; further calls change nothing."""
        await self._threads.run(self._close)

    def _run(self, work: Callable[[Connection], T], kind: str) -> T:
        from sifaka.storage.sqlite.file import failures

        with self._guard, failures(self._path or Path(":memory:")):
            if self._closed:
                raise StorageError("the queue of the store is closed", "open the store again")
            if self._connection is not None and self._identity != _identity(self._path):
                self._connection.close()  # deleted or replaced: what is written there is lost
                self._connection = None
            if self._connection is None:
                self._connection = _open(self._path)
                self._identity = _identity(self._path)
            sql = cast("Connection", self._connection)
            with transaction(sql, kind):
                return work(sql)

    def _close(self) -> None:
        with self._guard:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _open(path: Path | None) -> apsw.Connection:
    import apsw

    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return _connect(path)
        except apsw.BusyError:
            # SQLite does not wait by itself while another process switches a fresh file to WAL.
            if time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def _connect(path: Path | None) -> apsw.Connection:
    import apsw

    with _CREATING:
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Closing a file drops this process's locks on it, so only one that is new is closed.
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(path or ":memory:"))
    try:
        connection.set_busy_timeout(round(_BUSY_SECONDS * 1000))
        _prepare(cast("Connection", connection), path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(sql: Connection, path: Path | None) -> None:
    with transaction(sql, "IMMEDIATE"):
        application = sql.execute("PRAGMA application_id").get
        version = sql.execute("PRAGMA user_version").get
        if (application, version) == (APPLICATION_ID, _SCHEMA):
            pass
        elif application or version or sql.execute("SELECT count(*) FROM sqlite_schema").get:
            raise ConfigurationError(
                f"{str(path)!r} is not a queue of this release", "move it away: a new one is made"
            )
        else:
            sql.execute(_TABLES)
            sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            sql.execute(f"PRAGMA user_version = {_SCHEMA}")
    # A commit in a log is one flush of the disk, in a rollback journal several.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
        sql.execute(f"PRAGMA {pragma}").fetchall()


def _identity(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
