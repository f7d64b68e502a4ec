"""The handshake era: `resources/subscribe`, where there is a way back to the client."""

from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    EmptyResult,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from sifaka_mcp.notify.subscriber import Subscriber, run_of
from sifaka_mcp.state import AppState

_Context = ServerRequestContext[AppState, Any]
_KEY = "sifaka.subscriber"


def add_subscribing(server: Server[Any]) -> None:
    """Serve `resources/subscribe` and `resources/unsubscribe`, and say so where it is true."""
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, _subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, _unsubscribe)
    server.middleware.append(_declare_truthfully)


async def _subscribe(ctx: _Context, params: SubscribeRequestParams) -> EmptyResult:
    connection = _with_way_back(ctx)
    subscriber = connection.state.get(_KEY)
    if subscriber is None:
        subscriber = connection.state[_KEY] = Subscriber()
        _deliver(ctx, connection, subscriber)
    state = ctx.lifespan_context.of_request()
    await subscriber.add(state, [(params.uri, run_of(params.uri))])
    return EmptyResult()


async def _unsubscribe(ctx: _Context, params: UnsubscribeRequestParams) -> EmptyResult:
    subscriber = _with_way_back(ctx).state.get(_KEY)
    if subscriber is not None:
        subscriber.remove(params.uri)
    return EmptyResult()


def _deliver(ctx: _Context, connection: Connection, subscriber: Subscriber) -> None:
    """Send a connection what its subscriber is told, for as long as it is open."""
    scope = anyio.CancelScope()

    async def deliver() -> None:
        with scope:
            await subscriber.deliver(ctx.session.send_resource_updated)

    def end() -> None:
        scope.cancel()
        subscriber.close()

    ctx.lifespan_context.group.start_soon(deliver)
    connection.exit_stack.callback(end)


async def _declare_truthfully(ctx: _Context, call_next: CallNext) -> HandlerResult:
    result = await call_next(ctx)
    if ctx.method == "initialize" and not _connection_of(ctx.session).has_standalone_channel:
        capabilities = cast("dict[str, Any]", result)["capabilities"]
        capabilities["resources"]["subscribe"] = False
    return result


def _with_way_back(ctx: _Context) -> Connection:
    connection = _connection_of(ctx.session)
    if not connection.has_standalone_channel:
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=ctx.method)
    return connection


def _connection_of(session: ServerSession) -> Connection:
    # Sessions are made anew for each request. Nothing public leads to the connection, which lasts.
    return session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - see above
