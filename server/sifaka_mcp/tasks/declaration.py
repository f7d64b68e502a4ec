"""Finds out if a client declares the tasks extension, which it does on each request anew."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.server import require_client_extension
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

TASKS = "io.modelcontextprotocol/tasks"
"""The extension's name."""
VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)
"""The versions of the protocol that know extensions of this kind."""


def declares_tasks(ctx: ServerRequestContext[Any, Any]) -> bool:
    """True when a request may be answered with a task."""
    capabilities = ctx.session.client_capabilities
    declared = capabilities.extensions if capabilities is not None else None
    return ctx.protocol_version in VERSIONS and TASKS in (declared or {})


def require_tasks(ctx: ServerRequestContext[Any, Any]) -> None:
    """Refuse a request of the extension by a client that has not declared it.

    Raises:
        MCPError: It has not.
    """
    require_client_extension(ctx, TASKS)
