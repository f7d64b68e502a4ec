"""A retriever with a cache, and the cache in memory."""

import asyncio
import json
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from math import isfinite
from typing import Generic, Protocol, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError
from sifaka.record.thought import Document
from sifaka.retrievers.protocol import Retriever


class Cache(Protocol):
    """Keeps bytes under a key for some time; it may forget them earlier."""

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        ...

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds, in place of one that is there."""
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
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        with self._lock:
            until, value = self._kept.get(key, (0.0, None))
            if value is None:
                return None
            if until <= self._clock():
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return value

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds."""
        with self._lock:
            self._kept[key] = (self._clock() + ttl, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Lets the first who asks for a key do the work, and gives the others what comes of it.

    A failure reaches all of them and is not kept. When the first is cancelled, one of the others
    does the work instead. Askers in another event loop are on their own.
    """

    def __init__(self) -> None:
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Future[T]] = {}

    async def run(self, key: str, work: Callable[[], Awaitable[T]]) -> T:
        """The result of the work for this key, done here or by the caller that came first."""
        loop = asyncio.get_running_loop()
        while (flight := self._flights.get((loop, key))) is not None:
            await asyncio.wait([flight])
            if not flight.cancelled():
                return flight.result()
        flight = self._flights[loop, key] = loop.create_future()
        try:
            flight.set_result(await work())
        except Exception as error:  # noqa: BLE001 - raised below, and to all who wait
            flight.set_exception(error)
        finally:
            del self._flights[loop, key]
            flight.cancel()  # the work was, if nothing has come of it
        return flight.result()


logger = logging.getLogger(__name__)

HOUR = 3600.0


class _Found(Frozen):
    """The entry of a cache."""

    documents: tuple[Document, ...]


class CachedRetriever:
    """Asks a retriever only what its cache does not know.

    Where the cache fails, the retriever is asked. Of several callers with the same query at the
    same time one asks; a failure of the retriever reaches all of them and is kept nowhere.

    Args:
        retriever: The retriever to ask.
        cache: Keeps the answers; one in memory when left out. It may be shared.
        ttl: Seconds after which the retriever is asked again.
        name: Stands for the retriever in keys. Processes that share a cache share answers under
            one name, so a retriever over other documents needs another one. When None, a retriever
            that is plain data is named by its settings, and any other shares no answers.

    Raises:
        ConfigurationError: `ttl` is no number above zero.
    """

    def __init__(
        self,
        retriever: Retriever,
        *,
        cache: Cache | None = None,
        ttl: float = HOUR,
        name: str | None = None,
    ) -> None:
        if not (ttl > 0 and isfinite(ttl)):
            raise ConfigurationError(f"ttl={ttl} is not possible", "give seconds, above zero")
        self._wrapped = retriever
        self._cache: Cache = cache or MemoryCache()
        self._ttl = ttl
        self._identity = name or _identity(retriever)
        self._flights = SingleFlight[tuple[Document, ...]]()

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """The answer of the cache, or else of the retriever."""
        key = _key(self._identity, query, limit)
        return await self._flights.run(key, lambda: self._retrieve(key, query, limit))

    async def _retrieve(self, key: str, query: str, limit: int) -> tuple[Document, ...]:
        known = await self._known(key)
        if known is not None:
            return known.documents
        documents = tuple(await self._wrapped.retrieve(query, limit))
        with suppress(PydanticSerializationError):  # half a surrogate pair; no fault of the cache
            value = _Found(documents=documents).model_dump_json().encode()
            await self._keep(key, value)
        return documents

    async def _known(self, key: str) -> _Found | None:
        try:
            value = await self._cache.get(key)
        # A cache may be foreign code.
        except Exception as error:  # noqa: BLE001 - reported
            self._report(error)
            return None
        with suppress(ValidationError):  # nothing, or of another version of this program
            return _Found.model_validate_json(value or b"")

    async def _keep(self, key: str, value: bytes) -> None:
        try:
            await self._cache.set(key, value, ttl=self._ttl)
        except Exception as error:  # noqa: BLE001 - reported
            self._report(error)

    def _report(self, error: Exception) -> None:
        report_failure(logger, f"cache:{type(self._cache).__name__}", error)


def _identity(retriever: Retriever) -> str:
    kind = f"{type(retriever).__module__}.{type(retriever).__qualname__}"
    if isinstance(retriever, Frozen):
        return f"{kind} {retriever.model_dump_json()}"
    return f"{kind} {secrets.token_hex(8)}"


def _key(identity: str, query: str, limit: int) -> str:
    """A key of bounded length that does not show the query to readers of the cache."""
    return sha256(json.dumps([identity, query, limit]).encode()).hexdigest()
