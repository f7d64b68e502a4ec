"""Limits one caller's share of the server: requests over time, and requests at the same time."""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import RateLimiter, SlidingWindowCounterRateLimiter
from limits.errors import StorageError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sifaka.calls.failure_log import report_failure
from sifaka_mcp.tenancy import caller_of

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
        shared: The URL of the Redis where replicas count together, and what the names of keys
            begin with there; None counts in this process.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        rate: str,
        shared: tuple[str, str] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit: RateLimitItem = parse(rate)
        self._clock = clock
        self._here = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared: RateLimiter | None = None
        self._pool: ConnectionPool | None = None
        self._away_until = -math.inf
        if shared is not None:
            url, prefix = shared
            self._pool = _pool(url)
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


def throttled(app: ASGIApp, *, rates: Rates | None, most: int, unlimited: Iterable[str]) -> ASGIApp:
    """Answers 429 to a caller who asks too much, before anything of the request's body is read.

    A caller is the tenant of a token, and without one the address that a request comes from.

    Args:
        app: What is asked.
        rates: How many requests in a while, if that is limited.
        most: How many requests at a time.
        unlimited: Paths that are always answered.
    """
    under_way: Counter[str] = Counter()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or tell its caller when to come back."""
        if scope["type"] != "http" or scope["path"] in unlimited:
            await app(scope, receive, send)
            return
        caller = caller_of(scope)
        if under_way[caller] >= most:
            refused = refusal(1, f"{most} requests are under way already")
            await refused(scope, receive, send)
            return
        under_way[caller] += 1
        try:
            wait = await rates.wait_of(caller) if rates is not None else 0
            answering = refusal(wait, "too many requests") if wait else app
            await answering(scope, receive, send)
        finally:
            under_way[caller] -= 1
            if not under_way[caller]:
                del under_way[caller]

    return answer


def _pool(url: str) -> "ConnectionPool":
    from redis.asyncio import BlockingConnectionPool

    return BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_REDIS_SECONDS,
        socket_timeout=_REDIS_SECONDS,
        socket_connect_timeout=_REDIS_SECONDS,
    )


def refusal(seconds: int, reason: str) -> JSONResponse:
    """The answer 429 to a caller who is to come back after so many seconds."""
    return JSONResponse(
        {"error": "rate_limited", "error_description": f"{reason}, try again in {seconds} s"},
        status_code=429,
        headers={"retry-after": str(seconds)},
    )
