"""Opening a store by its URL, with this server's MCP client for those that are tools."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.storage import open_store
from sifaka.storage.catalogue import tiers_of
from sifaka.storage.protocol import ThoughtStore

if TYPE_CHECKING:
    from sifaka.storage.tool_backed.caller import ToolCaller

_PARAMETERS = re.compile(r"""(?<=\?)[^\s'"]+""")
"""Of a URL; any of them may be a key."""
_PASSED_ON = ("REDIS_", "MILVUS_")
"""Prefixes of the variables that tell those servers where their database is. They get no other
variables, so no keys of models."""


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
        return open_store(
            url,
            home=home,
            tenant=tenant,
            embedder=embedder,
            tool_session=_session,
            plugins=plugins,
        )
    except ConfigurationError as error:
        from sifaka_mcp.stores.tool_sessions import without_secrets

        shown = _PARAMETERS.sub("***", without_secrets(error.message))
        # Without its cause, which has the message as it was.
        raise ConfigurationError(shown, error.suggestion) from None


def redis_of(url: str, *, tenant: str) -> tuple[str, str] | None:
    """The first Redis server among the tiers of a store, for what replicas share besides runs.

    Returns:
        Its URL, which may hold a password, and what the names of the tenant's keys begin with,
        whom the server may allow no others; None when there is no Redis.
    """
    for tier in tiers_of(url):
        scheme, _, rest = tier.partition(":")
        if scheme.lower() in {"redis", "rediss", "unix"}:
            from sifaka.storage.redis.address import take_options

            address, keeping = take_options(f"{scheme.lower()}:{rest}")
            return address, f"{keeping.prefix}:run:{{{quote(tenant, safe='')}}}"
    return None


def _session(command: Sequence[str]) -> "ToolCaller":
    from sifaka_mcp.stores.tool_sessions import StdioToolSession

    passed_on = {name: os.environ[name] for name in os.environ if name.startswith(_PASSED_ON)}
    return StdioToolSession(command, passed_on)
