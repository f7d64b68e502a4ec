"""Connections to one Redis server, used in threads, and one more for each follower.

Errors of redis-py become `StorageError`, each with a suggestion.
"""

import math
import re
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, TypeAlias, TypeVar

from anyio import CancelScope

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl
from sifaka.storage.store import Worker

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
    try:
        yield
    except Exception as error:
        if translated := _translate(server, error):
            raise translated from error
        raise


def _translate(server: str, error: Exception) -> StorageError | None:
    from redis.exceptions import RedisError

    if not isinstance(error, RedisError | OSError):
        return None
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
"""Connections that are used at most; further tasks wait for their turn."""
IMPORTING = threading.Lock()
"""Held by a thread that imports redis-py, or something that does: two that import it at once, in
another order, can lock each other out."""


RedisClient: TypeAlias = Any
"""A `redis.Redis`, which is typed in part. Its replies are as the protocol has them."""


class RedisConnections(Worker[RedisClient]):
    """Runs work on a server. Safe for many tasks, several event loops, and one after another."""

    def __init__(self, address: StoreUrl) -> None:
        super().__init__(f"the store {address.shown!r}", _AT_ONCE)
        self.address = address
        self._silent_at = -math.inf
        """The time of a command that was not answered, if none was answered since."""

    async def run(self, work: Callable[[RedisClient], T]) -> T:
        """The result of the work, which is repeated over a new connection when one breaks.

        Raises:
            ConfigurationError: redis-py is not installed, or cannot use the URL.
            StorageError: The server cannot be reached, which takes less than 3 s to find out; does
                not answer for 5 s, however many wait; or refuses.
        """
        return await super().run(partial(self._attempt, work, time.monotonic()))

    @asynccontextmanager
    async def blocking(self) -> AsyncGenerator[Any]:
        """A `redis.asyncio.Redis` for commands that block: its reads have no time limit."""
        client = await super().run(lambda _: _make_client(self.address, seconds=None, in_loop=True))
        try:
            yield client
        finally:
            with CancelScope(shield=True):
                await client.aclose()

    def _attempt(self, work: Callable[[RedisClient], T], asked_at: float, client: RedisClient) -> T:
        from redis import exceptions

        if self._silent_at > asked_at:
            # Who waited for their turn does not wait for the server again, one by one.
            raise TimeoutError
        pauses = iter(_PAUSES)
        while True:
            try:
                answer = work(client)
            except exceptions.TimeoutError:
                self._silent_at = time.monotonic()
                raise
            # Errors of authentication are connection errors to redis-py.
            except (exceptions.AuthenticationError, exceptions.AuthorizationError):
                raise
            except (exceptions.ConnectionError, OSError):
                pause = next(pauses, None)
                if pause is None:
                    raise
                time.sleep(pause)
            else:
                self._silent_at = -math.inf
                return answer

    def _open(self, current: RedisClient | None) -> RedisClient:
        return current or _make_client(self.address, seconds=_COMMAND_SECONDS, in_loop=False)

    def _close(self, opened: RedisClient) -> None:
        opened.close()

    def _translate(self, error: Exception) -> StorageError | None:
        return _translate(self.address.shown, error)


def _make_client(address: StoreUrl, *, seconds: float | None, in_loop: bool) -> RedisClient:
    try:
        with IMPORTING:
            from redis import Redis, asyncio
            from redis.asyncio.retry import Retry as RetryInLoop
            from redis.backoff import NoBackoff
            from redis.retry import Retry
    except ImportError as error:
        raise ConfigurationError(
            f"the store {address.shown!r} needs a package that is not installed",
            install("redis"),
        ) from error
    kind, retries = (asyncio.Redis, RetryInLoop) if in_loop else (Redis, Retry)
    try:
        client = kind.from_url(  # pyright: ignore[reportUnknownMemberType]
            address.url,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=seconds,
            # The replies of this version have the same shapes in every release of redis-py.
            protocol=2,
            # Attempts are made here: redis-py's own add up to a minute, one inside the other.
            retry=retries(NoBackoff(), 0),
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
