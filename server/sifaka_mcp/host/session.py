"""What we need of the SDK's session: its private parts, and what a client requests by it."""

from collections.abc import Iterable
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.session import ServerSession
from mcp_types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

TASKS = "io.modelcontextprotocol/tasks"
"""The name of the tasks extension."""
VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)
"""The versions of the protocol that know extensions of this kind."""
_KEY = "sifaka.log_level"
_WITH_WARNINGS: frozenset[LoggingLevel] = frozenset({"debug", "info", "notice", "warning"})
"""The levels at which warnings are sent."""


def connection_of(session: ServerSession) -> Connection:
    """The connection of a session, which outlasts it: sessions are made for each request."""
    return session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - see above


def cancel_requested(session: ServerSession) -> anyio.Event:
    """Set when the client of a request has sent word to cancel it, and has not just left."""
    outbound: Any = session._request_outbound  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - see above
    return outbound.cancel_requested


def declares_tasks(ctx: ServerRequestContext[Any, Any]) -> bool:
    """True when a request may be answered with a task."""
    capabilities = ctx.session.client_capabilities
    declared = capabilities.extensions if capabilities is not None else None
    return ctx.protocol_version in VERSIONS and TASKS in (declared or {})


def add_log_messages(server: Server[Any]) -> None:
    """Serve `logging/setLevel`; the level lasts as long as the connection, over HTTP a request."""
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, _set_level)


async def _set_level(
    ctx: ServerRequestContext[Any, Any], params: SetLevelRequestParams
) -> EmptyResult:
    connection_of(ctx.session).state[_KEY] = params.level
    return EmptyResult()


async def warn(ctx: Context[Any, Any], lines: Iterable[str]) -> None:
    """Send each line as a warning to a host that has set a level for them."""
    if connection_of(ctx.session).state.get(_KEY) not in _WITH_WARNINGS:
        return
    for line in lines:
        await ctx.session.send_notification(
            LoggingMessageNotification(
                params=LoggingMessageNotificationParams(level="warning", logger="sifaka", data=line)
            ),
            related_request_id=ctx.request_id,
        )
