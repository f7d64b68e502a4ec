"""Limits the requests of one caller over time, counted here or in the replicas' Redis."""

import logging
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import RateLimiter, SlidingWindowCounterRateLimiter
from limits.errors import StorageError

from sifaka.calls.failure_log import report_failure

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

logger = logging.getLogger(__name__)

_REDIS_SECONDS = 1.0
"""Seconds that a Redis may take to answer, while a request waits for it."""
_PAUSE = 5.0
"""Seconds that a Redis is left alone after it failed."""
_MOST_CONNECTIONS = 16


class Rates:
    """A limit by caller, over a sliding window.

    While a shared Redis is away each process counts for itself: the limit is then one of each
    replica, which is better than none, and than no service.

    Args:
        rate: Such as `100/second`.
        redis_url: Where replicas count together; None counts in this process.
        prefix: What the names of keys begin with there.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        rate: str,
        redis_url: str | None = None,
        *,
        prefix: str = "sifaka:run",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit: RateLimitItem = parse(rate)
        self._clock = clock
        self._here = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared: RateLimiter | None = None
        self._pool: ConnectionPool | None = None
        self._away_until = -math.inf
        if redis_url is not None:
            self._pool = _pool(redis_url)
            self._shared = SlidingWindowCounterRateLimiter(
                RedisStorage(
                    "async+redis://",
                    wrap_exceptions=True,
                    implementation="redispy",
                    key_prefix=f"{prefix}:limit",
                    connection_pool=self._pool,  # pyright: ignore[reportArgumentType] - what its docstring says it takes
                )
            )

    async def wait_of(self, caller: str) -> int:
        """Count a request of a caller; 0 when it may go on, else after how many seconds it may."""
        if self._shared is not None and self._clock() >= self._away_until:
            try:
                return await self._wait_by(self._shared, caller)
            except StorageError as error:
                self._away_until = self._clock() + _PAUSE
                report_failure(logger, "rate limit", error)
        return await self._wait_by(self._here, caller)

    async def aclose(self) -> None:
        """Close what is open to Redis."""
        if self._pool is not None:
            await self._pool.disconnect()

    async def _wait_by(self, limiter: RateLimiter, caller: str) -> int:
        if await limiter.hit(self._limit, caller):
            return 0
        reset = (await limiter.get_window_stats(self._limit, caller)).reset_time
        return max(1, math.ceil(reset - time.time()))


def _pool(url: str) -> "ConnectionPool":
    from redis.asyncio import BlockingConnectionPool

    return BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_REDIS_SECONDS,
        socket_timeout=_REDIS_SECONDS,
        socket_connect_timeout=_REDIS_SECONDS,
    )
