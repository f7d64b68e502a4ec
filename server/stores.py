"""Opening a store by its URL, with this server's MCP client for those that are tools."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError
from sifaka.storage import open_store
from sifaka.storage.protocol import ThoughtStore

if TYPE_CHECKING:
    from sifaka.storage.tool_backed.caller import ToolCaller

_PARAMETERS = re.compile(r"""(?<=\?)[^\s'"]+""")
"""Of a URL; any of them may be a key."""
_PASSED_ON = ("REDIS_", "MILVUS_")
"""How the variables begin by which those servers are told where their database is. Other variables
they do not get: the keys of models are none of their business."""


def open_url(
    url: str, *, home: Path, tenant: str = "default", embedder: Embedder | None = None
) -> ThoughtStore:
    """The store that a URL names; see `sifaka.storage.open_store`.

    Raises:
        ConfigurationError: The URL is wrong; the message has nothing of it that may be a secret.
    """
    try:
        return open_store(url, home=home, tenant=tenant, embedder=embedder, tool_session=_session)
    except ConfigurationError as error:
        from server.tool_sessions import without_secrets

        shown = _PARAMETERS.sub("***", without_secrets(error.message))
        # Without its cause, which has the message as it was.
        raise ConfigurationError(shown, error.suggestion) from None


def _session(command: Sequence[str]) -> "ToolCaller":
    from server.tool_sessions import StdioToolSession

    passed_on = {name: os.environ[name] for name in os.environ if name.startswith(_PASSED_ON)}
    return StdioToolSession(command, passed_on)
