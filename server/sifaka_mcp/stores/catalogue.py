"""The store of this server: opened by its URL, and read-only where nothing may change."""

import re
from pathlib import Path
from typing import NoReturn, Self
from urllib.parse import quote

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError, StorageError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.storage import open_store
from sifaka.storage.opening import tiers_of
from sifaka.storage.protocol import ThoughtStore

_PARAMETERS = re.compile(r"""(?<=\?)[^\s'"]+""")
"""Of a URL; any of them may be a key."""


def open_url(
    url: str,
    *,
    home: Path,
    tenant: str = "default",
    embedder: Embedder | None = None,
    plugins: Plugins = NO_PLUGINS,
) -> ThoughtStore:
    """The store that a URL names; see `sifaka.storage.open_store`.

    Raises:
        ConfigurationError: The URL is wrong; the message has nothing of it that may be a secret.
        PluginError: A store of another package is not allowed, or cannot be used.
    """
    try:
        return open_store(url, home=home, tenant=tenant, embedder=embedder, plugins=plugins)
    except ConfigurationError as error:
        from sifaka.storage.tool_backed.session import without_secrets

        message = _PARAMETERS.sub("***", without_secrets(error.message))
        # Without its cause, which has the message as it was.
        raise ConfigurationError(message, error.suggestion) from None


def redis_of(url: str, *, tenant: str) -> tuple[str, str] | None:
    """The Redis server that is the log of a store, for what replicas share besides runs.

    Returns:
        Its URL, which may hold a password, and what the names of the tenant's keys begin with,
        whom the server may allow no others; None when there is no Redis.
    """
    for tier in tiers_of(url):
        scheme, _, rest = tier.partition(":")
        if scheme.lower() in {"redis", "rediss", "unix"}:
            from sifaka.storage.address import REDIS, parse_store_url

            address = parse_store_url(f"{scheme.lower()}:{rest}", REDIS)
            return address.url, f"{address.prefix}:run:{{{quote(tenant, safe='')}}}"
    return None


class ReadOnlyStore:
    """Another store, with every way to change it refused; see `ThoughtStore` for what it does.

    No tool of a read-only server writes. This class makes sure that none can.
    """

    def __init__(self, store: ThoughtStore) -> None:
        self._store = store
        self.place = store.place
        # What only reads is the other's own.
        self.load = store.load
        self.load_thought = store.load_thought
        self.follow = store.follow
        self.recent = store.recent
        self.search = store.search
        self.health = store.health
        self.aclose = store.aclose

    @property
    def degraded(self) -> tuple[str, ...]:
        """The parts that are degraded, one line each."""
        return self._store.degraded

    async def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise StorageError(
            "this server is read-only", "use one that was started without --read-only"
        )

    append = claim = delete = save = _refuse

    async def catch_up(self) -> int:
        """Nothing is done, and nothing is left to do: writing what was put off is for others."""
        return 0

    def scoped(self, tenant: str) -> Self:
        """The same for another tenant."""
        return type(self)(self._store.scoped(tenant))
