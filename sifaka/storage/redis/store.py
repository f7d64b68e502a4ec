"""A store in Redis."""

from sifaka.storage.redis.address import DEFAULT_PREFIX, take_options
from sifaka.storage.redis.log import RedisLog
from sifaka.storage.store import LogStore

LATEST = 500
"""Runs that a search reads at most, the newest: few servers have a search module."""


class RedisStorage(LogStore[RedisLog]):
    """A `ThoughtStore` of a `RedisLog`, searched by reading its latest 500 runs.

    Args:
        url: `redis://`, `rediss://` or `unix://`, as redis-py understands them.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of all keys.
        ttl: Seconds after its last entry that a run is forgotten; None keeps it.

    Raises:
        ConfigurationError: The URL, the prefix or the time to live cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default",
        prefix: str = DEFAULT_PREFIX,
        ttl: float | None = None,
    ) -> None:
        log = RedisLog(url, tenant=tenant, prefix=prefix, ttl=ttl)
        super().__init__(log, latest=LATEST, tenant=tenant)

    @classmethod
    def of_url(cls, url: str, *, tenant: str = "default") -> "RedisStorage":
        """A store whose URL also says how runs are kept: `?ttl=7d&prefix=sifaka`.

        Raises:
            ConfigurationError: The URL cannot be understood.
        """
        plain, keeping = take_options(url)
        return cls(plain, tenant=tenant, prefix=keeping.prefix, ttl=keeping.ttl)
