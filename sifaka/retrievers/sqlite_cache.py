"""A cache in a file, which outlives the process."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from anyio import to_thread

from sifaka.errors import StorageError
from sifaka.storage.sqlite.connection import SqlConnection, transaction

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
_BUSY_MS = 1000
# What a power failure loses is found again.
_SETTINGS = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS cache (
        key TEXT PRIMARY KEY, value BLOB NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS cache_until ON cache (until);
"""


class SQLiteCache:
    """Keeps values in a SQLite file of its own, which processes of one machine may share.

    What has expired is deleted by the values that follow. The file and its folder are created on
    first use, readable by their owner only.

    Args:
        path: The file; a relative path is resolved now.
        clock: Seconds since 1970, the same for all processes.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path).absolute()
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: apsw.Connection | None = None

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None.

        Raises:
            StorageError: The file cannot be read.
        """
        now = self._clock()
        row = await self._run(
            lambda c: c.execute(
                "SELECT value FROM cache WHERE key = ? AND until > ?", (key, now)
            ).fetchone()
        )
        return bytes(row[0]) if row else None

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds.

        Raises:
            StorageError: The file cannot be written.
        """
        now = self._clock()

        def write(connection: SqlConnection) -> None:
            with transaction(connection, "IMMEDIATE"):
                connection.execute("DELETE FROM cache WHERE until <= ?", (now,))
                connection.execute(
                    "INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", (key, value, now + ttl)
                )

        await self._run(write)

    async def aclose(self) -> None:
        """Close the file."""

        def close() -> None:
            with self._lock:
                if self._opened is not None:
                    self._opened.close()
                    self._opened = None

        await to_thread.run_sync(close)

    async def _run(self, work: Callable[[SqlConnection], T]) -> T:
        return await to_thread.run_sync(self._work, work)

    def _work(self, work: Callable[[SqlConnection], T]) -> T:
        import apsw

        with self._lock:
            try:
                if self._opened is None:
                    self._opened = _open(self.path)
                return work(cast("SqlConnection", self._opened))
            except (apsw.Error, OSError) as error:
                raise StorageError(
                    f"the cache {str(self.path)!r} cannot be used: {error}",
                    "delete the file, or name another one",
                ) from error


def _open(path: Path) -> "apsw.Connection":
    import apsw

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(_BUSY_MS)
        # Fetched, because statements after one with a result wait for that.
        cast("SqlConnection", connection).execute(_SETTINGS + _SCHEMA).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection
