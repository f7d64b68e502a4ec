"""Log messages of the handshake era: what did not work as it should have, for hosts that ask."""

from collections.abc import Iterable
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp_types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
)

from sifaka_mcp.host.session import connection_of

_KEY = "sifaka.log_level"
_WITH_WARNINGS: frozenset[LoggingLevel] = frozenset({"debug", "info", "notice", "warning"})
"""The levels at which warnings are sent."""


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
        told = LoggingMessageNotificationParams(level="warning", logger="sifaka", data=line)
        await ctx.session.send_notification(
            LoggingMessageNotification(params=told), related_request_id=ctx.request_id
        )
