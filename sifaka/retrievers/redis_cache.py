"""A cache in Redis, shared by processes and machines."""

import threading
from collections.abc import Callable
from math import ceil
from typing import Any, Protocol, TypeVar, cast

from anyio import to_thread

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install

T = TypeVar("T")
_SECONDS = 2.0
"""For connecting and for an answer: what is cached can be had elsewhere."""


class _Client(Protocol):
    def get(self, name: str) -> bytes | None: ...
    def set(self, name: str, value: bytes, *, px: int) -> object: ...
    def close(self) -> None: ...


class RedisCache:
    """Keeps values in Redis under `sifaka:cache:<key>`, each with an expiry.

    It asks from worker threads, so that any event loop can use it.

    Args:
        url: `redis://`, `rediss://` or `unix://`, as redis-py understands it.

    Raises:
        ConfigurationError: The package is missing, or the URL is none; when it is first used.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._opened: _Client | None = None

    async def get(self, key: str) -> bytes | None:
        """The value of a key, or None.

        Raises:
            StorageError: Redis failed.
        """
        return await self._ask(lambda client: client.get(_name(key)))

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds.

        Raises:
            StorageError: Redis failed.
        """
        await self._ask(lambda client: client.set(_name(key), value, px=max(1, ceil(ttl * 1000))))

    async def aclose(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._opened = self._opened, None
        if client is not None:
            await to_thread.run_sync(client.close)

    async def _ask(self, question: Callable[[_Client], T]) -> T:
        return await to_thread.run_sync(self._answer, question)

    def _answer(self, question: Callable[[_Client], T]) -> T:
        client = self._client()
        from redis.exceptions import RedisError

        try:
            return question(client)
        except (RedisError, OSError) as error:
            # Not in its words: they may quote the URL.
            raise StorageError(
                f"the Redis cache failed: {type(error).__name__}",
                "check that Redis is running",
                retryable=True,
            ) from error

    def _client(self) -> _Client:
        with self._lock:
            if self._opened is None:
                self._opened = _open(self._url)
            return self._opened


def _open(url: str) -> _Client:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        raise ConfigurationError(
            "a cache in Redis needs a package that is not installed",
            install("redis"),
        ) from error
    make = cast("Any", redis.Redis)
    try:
        return make.from_url(
            url,
            socket_timeout=_SECONDS,
            socket_connect_timeout=_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError:
        raise ConfigurationError(
            "the URL of the Redis cache is none", "use redis://, rediss:// or unix://"
        ) from None


def _name(key: str) -> str:
    return f"sifaka:cache:{key}"
