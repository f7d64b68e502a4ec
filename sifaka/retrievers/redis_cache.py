"""A cache in Redis, shared by processes and machines."""

from math import ceil

from sifaka.errors import StorageError
from sifaka.storage.address import parse_store_url
from sifaka.storage.redis.address import REDIS
from sifaka.storage.redis.connections import RedisConnections


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
        return await self._ask("GET", f"{self._prefix}:cache:{key}")

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        """Keep a value for `ttl` seconds.

        Raises:
            StorageError: Redis failed.
        """
        name = f"{self._prefix}:cache:{key}"
        await self._ask("SET", name, value, "PX", max(1, ceil(ttl * 1000)))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.aclose()

    async def _ask(self, *command: str | bytes | int) -> bytes | None:
        try:
            return await self._connections.run(lambda client: client.execute_command(*command))
        except StorageError as error:
            raise StorageError(
                f"the Redis cache failed: {error.message}",
                "check that Redis is running",
                retryable=True,
            ) from error
