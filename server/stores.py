"""Opening a store by its URL, with this server's MCP client for those that are tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sifaka.embeddings.protocol import Embedder
from sifaka.storage import open_store
from sifaka.storage.protocol import ThoughtStore

if TYPE_CHECKING:
    from sifaka.storage.tool_backed.caller import ToolCaller


def open_url(
    url: str, *, home: Path, tenant: str = "default", embedder: Embedder | None = None
) -> ThoughtStore:
    """The store that a URL names; see `sifaka.storage.open_store`.

    Raises:
        ConfigurationError: The URL is wrong.
    """
    return open_store(url, home=home, tenant=tenant, embedder=embedder, tool_session=_session)


def _session(command: Sequence[str]) -> "ToolCaller":
    from server.tool_sessions import StdioToolSession

    return StdioToolSession(command)
