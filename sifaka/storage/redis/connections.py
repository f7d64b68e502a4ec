"""Connections to one Redis server: a pool for each event loop, and one more for each follower.

Errors of redis-py become `StorageError`, each with a suggestion.
"""

import asyncio
import math
import re
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from anyio import CancelScope, Semaphore, current_time, sleep, to_thread

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl

T = TypeVar("T")

_REASONS: tuple[tuple[str, str, str, bool], ...] = (
    (
        # `unauthenticated` is the answer to a long command before a login.
        "WRONGPASS|NOAUTH|AuthenticationError|AuthorizationError|invalid password|unauthenticated",
        "refuses the user name or the password",
        "check them in SIFAKA_STORE",
        False,
    ),
    (
        "NOPERM|NoPermissionError",
        "does not let this user do that",
        "grant the keys of this tenant and the commands of examples/redis.acl",
        False,
    ),
    (
        "OOM|OutOfMemoryError",
        "is out of memory, and nothing was stored",
        "raise its maxmemory, or let runs expire with ?ttl=7d",
        True,
    ),
    (
        "READONLY|ReadOnlyError",
        "is a read-only replica",
        "name the primary in SIFAKA_STORE, or wait until a failover is over",
        True,
    ),
    (
        "MISCONF",
        "refuses writes because it cannot save them to its disk",
        "free some space on the server and look into its log",
        True,
    ),
    ("LOADING|BusyLoadingError", "is still loading its data", "try again in a moment", True),
    (
        "WRONGTYPE",
        "holds something else under the key of a run",
        "choose another prefix with ?prefix=",
        False,
    ),
    ("TimeoutError", "does not answer", "check the server and try again", True),
    (
        "ConnectionError|OSError",
        "cannot be reached",
        "start the server, or check SIFAKA_STORE",
        True,
    ),
)
"""Codes or class names, the fault, the suggestion, and whether it may pass by itself."""


@contextmanager
def failures(server: str) -> Generator[None]:
    """Translate the errors of redis-py and the network."""
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        raise _translated(server, error) from error


def lost_connection(error: Exception) -> bool:
    """True when the same command may well succeed over a new connection."""
    from redis import exceptions

    # Errors of authentication are connection errors to redis-py.
    refused = (exceptions.AuthenticationError, exceptions.AuthorizationError)
    return isinstance(error, exceptions.ConnectionError | OSError) and not isinstance(
        error, refused
    )


def _translated(server: str, error: Exception) -> StorageError:
    kinds = "\n".join(kind.__name__ for kind in type(error).__mro__)
    text = str(error)
    for signs, what, advice, later in _REASONS:
        if re.search(rf"(?m)^(?:{signs})$", kinds) or re.search(
            rf"(?:^|: )(?:\('|-)?(?:{signs})\b", text
        ):
            return StorageError(f"the store {server!r} {what}", advice, retryable=later)
    line = " ".join(text.split())[:200]
    return StorageError(f"the store {server!r} failed: {line}", "look into its log")


_CONNECT_SECONDS = 2.0
_COMMAND_SECONDS = 5.0
_PAUSES = (0.05, 0.2)
"""Seconds before each further attempt over a new connection."""
_AT_ONCE = 32
"""Connections a loop uses at most; further tasks wait for their turn."""
IMPORTING = threading.Lock()
"""Held by a thread that imports redis-py, or something that does."""
_CLOSED = "handler is closed"
"""A part of the `RuntimeError` of uvloop when the other side has closed the connection."""


RedisClient: TypeAlias = Any
"""A `redis.asyncio.Redis`, which is typed in part. Its replies are as the protocol has them."""


@dataclass(slots=True, eq=False)
class _Pool:
    client: RedisClient
    turns: Semaphore
    keeper: AsyncGenerator[None]
    """Closes the client when it is closed itself, which at the latest its event loop does."""
    silent_at: float = -math.inf
    """The time of a command that was not answered, if none was answered since."""


class RedisConnections:
    """Runs work on a server. Safe for many tasks, several event loops, and one after another."""

    def __init__(self, address: StoreUrl) -> None:
        self.address = address
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = WeakKeyDictionary()
        self._guard = threading.Lock()
        self._closed = False

    async def run(self, work: Callable[[RedisClient], Awaitable[T]]) -> T:
        """The result of the work, which is repeated over a new connection when one breaks.

        Raises:
            ConfigurationError: redis-py is not installed, or cannot use the URL.
            StorageError: The server cannot be reached, which takes less than 3 s to find out; does
                not answer for 5 s, however many wait; or refuses.
        """
        pool = await self._pool()
        asked = current_time()
        with failures(self.address.shown):
            async with pool.turns:
                if pool.silent_at > asked:
                    # Who waited for their turn does not wait for the server again, one by one.
                    raise TimeoutError
                for pause in _PAUSES:
                    try:
                        return await _answer(pool, work)
                    except Exception as error:
                        if not lost_connection(error):
                            raise
                    await sleep(pause)
                    self._check_open()
                return await _answer(pool, work)

    @asynccontextmanager
    async def blocking(self) -> AsyncGenerator[RedisClient]:
        """A client of its own for commands that block: its reads have no time limit."""
        self._check_open()
        client = _client(self.address, command_seconds=None)
        try:
            yield client
        finally:
            with CancelScope(shield=True):
                await client.aclose()

    async def aclose(self) -> None:
        """Close the connections of this event loop, and have other loops close theirs."""
        here = asyncio.get_running_loop()
        with self._guard:
            self._closed = True
            pools = [(loop, self._pools.pop(loop)) for loop in list(self._pools)]
        for loop, pool in pools:
            if loop is here:
                with CancelScope(shield=True):
                    await pool.keeper.aclose()
            elif loop.is_running():
                # Not awaited: that loop may be waiting for this one.
                asyncio.run_coroutine_threadsafe(_finish(pool.keeper), loop)

    async def _pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            await to_thread.run_sync(_import_redis)  # it would hold up the loop
        with self._guard:
            self._check_open()
            if (pool := self._pools.get(loop)) is not None:
                return pool
            client = _client(self.address, command_seconds=_COMMAND_SECONDS)
            pool = _Pool(client, Semaphore(_AT_ONCE, fast_acquire=True), self._keep(loop, client))
            self._pools[loop] = pool
        await anext(pool.keeper)
        return pool

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"the store {self.address.shown!r} is closed", "open it again")

    async def _keep(
        self, loop: asyncio.AbstractEventLoop, client: RedisClient
    ) -> AsyncGenerator[None]:
        # A loop closes the generators that were begun in it before it is closed itself. So no
        # connection outlives its loop, where it could not be closed any more.
        try:
            yield
        finally:
            with self._guard:
                self._pools.pop(loop, None)
            await client.aclose()


async def _answer(pool: _Pool, work: Callable[[RedisClient], Awaitable[T]]) -> T:
    from redis import exceptions

    try:
        answer = await work(pool.client)
    except exceptions.TimeoutError:
        pool.silent_at = current_time()
        raise
    except RuntimeError as error:
        if _CLOSED not in str(error):
            raise
        raise exceptions.ConnectionError(str(error)) from error
    pool.silent_at = -math.inf
    return answer


async def _finish(keeper: AsyncGenerator[None]) -> None:
    await keeper.aclose()


def _import_redis() -> None:
    # Two threads that import it at once, in another order, can lock each other out.
    with suppress(ImportError), IMPORTING:  # what is missing is told by who makes a client
        import_module("redis.asyncio")


def _client(address: StoreUrl, *, command_seconds: float | None) -> RedisClient:
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError as error:
        raise ConfigurationError(
            f"the store {address.shown!r} needs a package that is not installed",
            install("redis"),
        ) from error
    try:
        client = Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
            address.url,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=command_seconds,
            # The replies of this version have the same shapes in every release of redis-py.
            protocol=2,
            # Attempts are made here: redis-py's own add up to a minute, one inside the other.
            retry=Retry(NoBackoff(), 0),
            **({} if address.url.startswith("unix:") else {"socket_keepalive": True}),
        )
    except ValueError as error:
        raise ConfigurationError(
            f"the store {address.shown!r} cannot be opened: {error}",
            "correct the URL in SIFAKA_STORE",
        ) from error
    # Replies as the protocol has them, whatever a release of redis-py makes of some commands.
    client.response_callbacks.clear()
    return client
