"""A cache in a file, which outlives the process."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sifaka.errors import SifakaError, StorageError
from sifaka.storage.sqlite.connection import SqlConnection, transaction
from sifaka.storage.sqlite.schema import Schema
from sifaka.storage.sqlite.worker import SQLiteWorker

T = TypeVar("T")


def _create_table(connection: SqlConnection) -> None:
    connection.execute("""
        CREATE TABLE cache (
            key TEXT PRIMARY KEY, value BLOB NOT NULL, until REAL NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX cache_until ON cache (until);
    """)


_SCHEMA = Schema(0x5346_4B43, 1, _create_table)
"""Marked `SFKC`."""


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
        self._worker = SQLiteWorker(self.path, _SCHEMA)

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
        await self._worker.aclose()

    async def _run(self, work: Callable[[SqlConnection], T]) -> T:
        try:
            return await self._worker.run(work)
        except SifakaError as error:
            raise StorageError(
                f"the cache {str(self.path)!r} cannot be used: {error.message}",
                "delete the file, or name another one",
            ) from error
