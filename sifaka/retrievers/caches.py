"""Caches: where what a retriever has found is kept for a while."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol


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

    async def aclose(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
