"""The extension of tasks, as clients declare it."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

TASKS = "io.modelcontextprotocol/tasks"
"""The name of the tasks extension."""
VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)
"""The versions of the protocol that know extensions of this kind."""


def declares_tasks(ctx: ServerRequestContext[Any, Any]) -> bool:
    """True when a request may be answered with a task."""
    capabilities = ctx.session.client_capabilities
    declared = capabilities.extensions if capabilities is not None else None
    return ctx.protocol_version in VERSIONS and TASKS in (declared or {})
