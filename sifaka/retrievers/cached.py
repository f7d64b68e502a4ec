"""A retriever with caches, and the cache in memory."""

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from math import ceil, isfinite
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import PydanticSerializationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.record.thought import Document
from sifaka.retrievers.protocol import DOCUMENTS, Retriever
from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.redis.connections import RedisConnections
from sifaka.storage.sqlite.connection import Schema, SqlConnection, SQLiteWorker, transaction

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Cache(Protocol):
    """Keeps bytes under a key for some time; it may forget them earlier."""

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        ...

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds, in place of one that is there."""
        ...

    async def aclose(self) -> None:
        """Release files and connections; the cache is not used afterwards."""
        ...


class MemoryCache:
    """Keeps values in this process; what was used longest ago goes first.

    Args:
        most: The most values that are kept.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(self, most: int = 1000, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._values: dict[str, tuple[float, bytes]] = {}
        self._lock = threading.Lock()

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        with self._lock:
            until, value = self._values.pop(key, (0.0, None))
            if value is None or until <= self._clock():
                return None
            self._values[key] = until, value
            return value

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds."""
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = (self._clock() + ttl, value)
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]

    async def aclose(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()


HOUR = 3600.0
_REST = 30.0
"""Seconds for which a cache that failed is left alone."""


class _Entry(Frozen):
    """The entry of a cache."""

    until: float = Field(allow_inf_nan=False)
    """Seconds since 1970; with the value, so that a copy in a faster cache lives no longer."""
    documents: tuple[Document, ...]


class CachedRetriever:
    """Asks a retriever only what no cache knows.

    Caches are read in their order, and what one of them has is put into those before it. One that
    fails is left out for a while. A failure of the retriever is kept nowhere. The caches stay open:
    their maker closes them.

    Args:
        retriever: The retriever to ask.
        caches: From the fastest to the one that keeps longest, such as
            `(MemoryCache(), RedisCache(url), SQLiteCache(path))`; one in memory when left out.
        ttl: Seconds after which the retriever is asked again.
        name: Stands for the retriever in keys. Processes that share a cache share answers under
            one name, so a retriever over other documents needs another one. When None, a retriever
            that is plain data is named by its settings, and any other shares no answers.
        clock: Seconds since 1970.

    Raises:
        ConfigurationError: `ttl` is no number above zero.
    """

    def __init__(
        self,
        retriever: Retriever,
        *,
        caches: Sequence[Cache] | None = None,
        ttl: float = HOUR,
        name: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not (ttl > 0 and isfinite(ttl)):
            raise ConfigurationError(f"ttl={ttl} is not possible", "give seconds, above zero")
        self._wrapped = retriever
        self._caches = tuple(caches) if caches is not None else (MemoryCache(),)
        self._ttl = ttl
        self._identity = name or _identify(retriever)
        self._clock = clock
        self._rests_until: dict[int, float] = {}

    async def retrieve(self, query: str, limit: int = DOCUMENTS) -> Sequence[Document]:
        """The answer of a cache, or else of the retriever."""
        # Of bounded length, and it does not show the query to readers of a cache.
        key = sha256(json.dumps([self._identity, query, limit]).encode()).hexdigest()
        for number in range(len(self._caches)):
            entry = await self._read_entry(number, key)
            if entry is not None:
                await self._fill_caches(number, key, entry)
                return entry.documents
        documents = tuple(await self._wrapped.retrieve(query, limit))
        entry = _Entry(until=self._clock() + self._ttl, documents=documents)
        await self._fill_caches(len(self._caches), key, entry)
        return documents

    async def _read_entry(self, number: int, key: str) -> _Entry | None:
        if self._is_resting(number):
            return None
        try:
            value = await self._caches[number].get(key)
        # A cache may be foreign code.
        except Exception as error:  # noqa: BLE001 - reported
            self._leave_alone(number, error)
            return None
        try:
            entry = None if value is None else _Entry.model_validate_json(value)
        except ValidationError:  # of another version of this program, or of another program
            return None
        return entry if entry is not None and entry.until > self._clock() else None

    async def _fill_caches(self, before: int, key: str, entry: _Entry) -> None:
        """Put an entry into the caches before this one."""
        left = entry.until - self._clock()
        try:
            value = entry.model_dump_json().encode()
        except PydanticSerializationError:  # half a surrogate pair; no fault of a cache
            return
        for number in range(before):
            try:
                if left > 0 and not self._is_resting(number):
                    await self._caches[number].set(key, value, ttl=left)
            except Exception as error:  # noqa: BLE001 - reported
                self._leave_alone(number, error)

    def _is_resting(self, number: int) -> bool:
        return self._rests_until.get(number, 0.0) > self._clock()

    def _leave_alone(self, number: int, error: Exception) -> None:
        self._rests_until[number] = self._clock() + _REST
        report_failure(logger, f"cache:{type(self._caches[number]).__name__}", error)


def _identify(retriever: Retriever) -> str:
    kind = f"{type(retriever).__module__}.{type(retriever).__qualname__}"
    is_data = isinstance(retriever, Frozen)
    return f"{kind} {retriever.model_dump_json() if is_data else secrets.token_hex(8)}"


class RedisCache:
    """Keeps values in Redis under `sifaka:cache:<key>`, each with an expiry.

    Args:
        url: `redis://`, `rediss://` or `unix://`, as that of a store; with `?prefix=` if keys are
            to begin otherwise.

    Raises:
        ConfigurationError: The URL is none; on first use, that the package is missing.
    """

    def __init__(self, url: str) -> None:
        address = parse_store_url(url, REDIS)
        self._prefix = address.prefix
        self._connections = RedisConnections(address)

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None.

        Raises:
            StorageError: Redis failed.
        """
        return await self._execute("GET", f"{self._prefix}:cache:{key}")

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds.

        Raises:
            StorageError: Redis failed.
        """
        expiry = max(1, ceil(ttl * 1000))
        await self._execute("SET", f"{self._prefix}:cache:{key}", value, "PX", expiry)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.aclose()

    async def _execute(self, *command: str | bytes | int) -> bytes | None:
        try:
            return await self._connections.run(lambda client: client.execute_command(*command))
        except StorageError as error:
            raise StorageError(
                f"the Redis cache failed: {error.message}",
                "check that Redis is running",
                retryable=True,
            ) from error


_SCHEMA = Schema(
    0x5346_4B43,
    1,
    """
CREATE TABLE cache (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX cache_until ON cache (until);
""",
)
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
