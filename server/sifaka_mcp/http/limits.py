"""Limits of one caller's share of the server: the bodies and the number of its requests."""

import logging
import math
import re
import time
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint
from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import RateLimiter, SlidingWindowCounterRateLimiter
from limits.errors import StorageError
from mcp_types import JSONRPCError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka.calls.failure_log import report_failure
from sifaka_mcp.http.guard import MCP
from sifaka_mcp.stdio import BATCH
from sifaka_mcp.tenancy import caller_of

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

logger = logging.getLogger(__name__)

_REDIS_SECONDS = 1.0
"""Seconds that a Redis may take to answer, while a request waits for it."""
_PAUSE = 5.0
"""Seconds that a Redis is left alone after it failed."""
_MOST_CONNECTIONS = 16
LARGEST_AT_ONCE = 4
"""The bodies of the largest size that one caller may have under way together."""
MOST_VALUES = 100_000
"""The strings, lists, objects and commas of a body: the parser makes so many in 30 ms at the most,
in which nothing else is answered."""
_IN_TURN = 64 * 1024
"""Bytes that are counted at once, and from which bodies are parsed one after the other."""
_BATCH = re.compile(rb"\s*\[")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
"""A string of JSON, or what there is of one at the end of a part."""


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
        self._local = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared: RateLimiter | None = None
        self._pool: ConnectionPool | None = None
        self._away_until = -math.inf
        if shared is not None:
            from redis.asyncio import BlockingConnectionPool

            url, prefix = shared
            self._pool = BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options
                url,
                max_connections=_MOST_CONNECTIONS,
                timeout=_REDIS_SECONDS,
                socket_timeout=_REDIS_SECONDS,
                socket_connect_timeout=_REDIS_SECONDS,
            )
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
        return await self._wait_by(self._local, caller)

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
        app: What answers the others.
        rates: How many requests in a while, if that is limited.
        most: How many requests at a time.
        unlimited: Paths that are always answered.
    """
    under_way: Counter[str] = Counter()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer when to come back."""
        if scope["type"] != "http" or scope["path"] in unlimited:
            await app(scope, receive, send)
            return
        caller = caller_of(scope)
        if under_way[caller] >= most:
            await refusal(1, f"{most} requests are under way already")(scope, receive, send)
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


def refusal(seconds: int, reason: str) -> JSONResponse:
    """The answer 429 to a caller who is to come back after so many seconds."""
    return JSONResponse(
        {"error": "rate_limited", "error_description": f"{reason}, try again in {seconds} s"},
        status_code=429,
        headers={"retry-after": str(seconds)},
    )


class WholeBodies:
    """Reads the bodies of requests before they are answered.

    A body that is too large, or has too many values, gets 413, and one that would make too much of
    its caller's unfinished ones 429. A client that leaves before the end of its body gets nothing:
    there is no request. Of large bodies one is passed on at a time, since they are parsed at once.

    A byte order mark before a body is dropped, and several messages at once are refused.

    Args:
        largest: Bytes of one body.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._most = LARGEST_AT_ONCE * largest
        self._unfinished: Counter[str] = Counter()
        self._turn = anyio.Lock()

    def before(self, app: ASGIApp) -> ASGIApp:
        """The same app, to which a request is passed on once its body is there."""
        return partial(self._answer, app)

    async def _answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._read_body(scope, receive)
        if isinstance(body, bytes) and scope["path"] == MCP and _BATCH.match(body):
            error = JSONRPCError(jsonrpc="2.0", id=None, error=BATCH)
            body = JSONResponse(error.model_dump(exclude_none=True) | {"id": None}, status_code=400)
        if isinstance(body, Response):
            await body(scope, receive, send)
        if not isinstance(body, bytes):
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        is_large = len(body) > _IN_TURN
        del body

        async def replay() -> Message:
            if messages and is_large:
                # It is parsed where this returns; others go on in a later round of the loop.
                async with self._turn:
                    await checkpoint()
            return messages.pop() if messages else await receive()

        await app(scope, replay, send)

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """The whole body, the refusal of it, or None when its client has left."""
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > self._largest:
            return _too_large()
        caller, parts, size, values = caller_of(scope), list[bytes](), 0, _Values()
        try:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part: bytes = message.get("body", b"")
                size += len(part)
                self._unfinished[caller] += len(part)
                if size > self._largest:
                    return _too_large()
                if self._unfinished[caller] > self._most:
                    return refusal(1, f"more than {self._most} bytes of bodies are under way")
                for at in range(0, len(part), _IN_TURN):
                    if at:
                        await checkpoint()  # others are answered between
                    if values.add(part[at : at + _IN_TURN]) > MOST_VALUES:
                        return _too_large(f"Too many values in the request, at most {MOST_VALUES}")
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts).removeprefix(BOM_UTF8)
        finally:
            self._unfinished[caller] -= size
            if not self._unfinished[caller]:
                del self._unfinished[caller]


@dataclass
class _Values:
    """Counts what a parser will make of JSON that comes in parts."""

    _count: int = 0
    _begun: bytes = b""
    """The quote of a string that the last part has not ended."""

    def add(self, part: bytes) -> int:
        """The number with this part."""
        outside, strings = _STRING.subn(rb'"\1', self._begun + part)
        self._count += strings - bool(self._begun) + sum(map(outside.count, (b",", b"[", b"{")))
        # Each string that has ended leaves two quotes; of the last one its backslash may be left.
        is_open = outside.count(b'"') % 2
        self._begun = outside[outside.rindex(b'"') :] if is_open else b""
        return self._count


def _too_large(message: str = "Request body too large") -> Response:
    return Response(message, status_code=413)
