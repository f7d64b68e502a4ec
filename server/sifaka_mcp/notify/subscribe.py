"""The handshake era: `resources/subscribe`, where there is a way back to the client."""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    EmptyResult,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from sifaka.errors import SifakaError, ThoughtNotFound
from sifaka_mcp.host.session import connection_of
from sifaka_mcp.state import AppState
from sifaka_mcp.tenancy import tenant_of_request

MOST = 100
"""Subscriptions of one connection, or of one stream where a connection has several."""
_PAUSE = 0.1
"""Seconds between two notifications of the same subscription: a burst is told once."""
_RUN = re.compile(r"run://([^/?#]+)(?:/diff)?")
_Context = ServerRequestContext[AppState, Any]
_KEY = "sifaka.subscriber"


def add_subscribing(server: Server[Any]) -> None:
    """Serve `resources/subscribe` and `resources/unsubscribe`."""
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, _subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, _unsubscribe)


class Subscriber:
    """One client's subscriptions.

    What has moved is told once, however often it has moved since the client was told last: a
    client that reads slowly gets fewer notifications, not late ones.
    """

    def __init__(self) -> None:
        self._leaving: dict[str, Callable[[], None]] = {}
        self._moved: dict[str, None] = {}
        self._woken = anyio.Event()
        self._ended = False

    async def add(self, state: AppState, topics: Iterable[tuple[str, str | None]]) -> None:
        """Subscribe to some topics, all or none.

        Args:
            state: What the server works with, as the tenant of the request sees it.
            topics: Words for what is subscribed to, each with the run it is about, or None where
                nothing ever happens. An unknown run is one where nothing ever happens.

        Raises:
            MCPError: There are too many, or the store failed.
        """
        wanted = {topic: run_id for topic, run_id in topics if topic not in self._leaving}
        if len(self._leaving) + len(wanted) > MOST:
            raise MCPError(code=INVALID_PARAMS, message=f"more than {MOST} subscriptions")
        self._leaving |= dict.fromkeys(wanted, _nothing)
        try:
            for topic, run_id in wanted.items():
                leave = await self._follow(state, topic, run_id)
                if topic in self._leaving:
                    self._leaving[topic] = leave
                else:
                    leave()  # it was given up meanwhile
        except BaseException as error:
            for topic in wanted:
                self.remove(topic)
            if isinstance(error, SifakaError):
                raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
            raise

    def remove(self, topic: str) -> None:
        """Unsubscribe; nothing happens where there was no subscription."""
        self._leaving.pop(topic, _nothing)()
        self._moved.pop(topic, None)

    def close(self) -> None:
        """Unsubscribe from everything."""
        for topic in list(self._leaving):
            self.remove(topic)

    async def deliver(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send each topic that has moved, until the end."""
        while not self._ended:
            await self._woken.wait()
            self._woken = anyio.Event()
            moved, self._moved = self._moved, {}
            for topic in moved:
                await send(topic)
            if not self._ended:
                await anyio.sleep(_PAUSE)

    def end(self) -> None:
        """Let `deliver` come to its end when it has sent what has moved until now."""
        self._ended = True
        self._woken.set()

    async def _follow(self, state: AppState, topic: str, run_id: str | None) -> Callable[[], None]:
        if run_id is None:
            return _nothing

        def moved() -> None:
            self._moved[topic] = None
            self._woken.set()

        try:
            return await state.followers.add(state.store, tenant_of_request(), run_id, moved)
        except ThoughtNotFound:
            return _nothing


def run_of(uri: str) -> str | None:
    """The run that a resource is about and changes with; None for other resources."""
    found = _RUN.fullmatch(uri)
    return found[1] if found else None


def _nothing() -> None:
    pass


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


def _with_way_back(ctx: _Context) -> Connection:
    connection = connection_of(ctx.session)
    if not connection.has_standalone_channel:
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=ctx.method)
    return connection
