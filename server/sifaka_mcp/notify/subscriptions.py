"""Notifies clients of the runs they subscribe to, in the way of each era of the protocol.

The handshake era has `resources/subscribe`, where there is a way back to the client; the era of
2026-07-28 has `subscriptions/listen`, which is answered with a stream of notifications.
"""

import math
import re
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourceUpdated,
    event_to_notification,
)
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    EmptyResult,
    Notification,
    ServerNotification,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from sifaka.errors import SifakaError, ThoughtNotFound
from sifaka_mcp.host.session import TASKS, connection_of
from sifaka_mcp.state import AppState
from sifaka_mcp.tasks import detailed_task
from sifaka_mcp.tenancy import seconds_left, tenant_of_request

MOST = 100
"""Subscriptions of one connection, or of one stream where a connection has several."""
MOST_STREAMS = 1000
"""Streams that are open for one tenant at the same time."""
LONGEST_STREAM = 3600.0
"""Seconds until a stream that a token has opened comes to its end, so that its client has to show
one again: a token that was withdrawn is of no use for long."""
_PAUSE = 0.1
"""Seconds between two notifications of the same subscription: a burst is reported once."""
_RUN = re.compile(r"run://([^/?#]+)(?:/diff)?")
_Context = ServerRequestContext[AppState, Any]
_KEY = "sifaka.subscriber"
_TASK_IDS = "taskIds"
"""The name of the tasks extension for the tasks a client subscribes to."""
_TASK = "task "
"""Begins the topic of a task, and of no resource: there is no space in an address."""
_OfTask = Notification[dict[str, Any], str]


class Subscriber:
    """One client's subscriptions.

    A topic that has changed is sent once, however often it has changed since it was sent last: a
    client that reads slowly gets fewer notifications, not late ones.
    """

    def __init__(self) -> None:
        self._leaving: dict[str, Callable[[], None]] = {}
        self._changed: dict[str, None] = {}
        self._woken = anyio.Event()
        self._ended = False
        self._delivering = anyio.CancelScope()

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
        self._leaving |= dict.fromkeys(wanted, _do_nothing)
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
        self._leaving.pop(topic, _do_nothing)()
        self._changed.pop(topic, None)

    def close(self) -> None:
        """Unsubscribe from everything, and deliver no more."""
        self._delivering.cancel()
        for topic in list(self._leaving):
            self.remove(topic)

    async def deliver(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send each topic that has changed, until the end."""
        with self._delivering:
            while not self._ended:
                await self._woken.wait()
                self._woken = anyio.Event()
                topics, self._changed = self._changed, {}
                for topic in topics:
                    await send(topic)
                if not self._ended:
                    await anyio.sleep(_PAUSE)

    def end(self) -> None:
        """Let `deliver` come to its end when it has sent what has changed until now."""
        self._ended = True
        self._woken.set()

    async def _follow(self, state: AppState, topic: str, run_id: str | None) -> Callable[[], None]:
        if run_id is None:
            return _do_nothing

        def note_change() -> None:
            self._changed[topic] = None
            self._woken.set()

        try:
            return await state.followers.add(state.store, tenant_of_request(), run_id, note_change)
        except ThoughtNotFound:
            return _do_nothing


def _topic_of(uri: str) -> tuple[str, str | None]:
    """A resource, and the run that it is about and changes with; None for other resources."""
    match = _RUN.fullmatch(uri)
    return uri, match[1] if match else None


def _do_nothing() -> None:
    pass


async def _subscribe(ctx: _Context, params: SubscribeRequestParams) -> EmptyResult:
    connection = _require_channel(ctx)
    subscriber: Subscriber | None = connection.state.get(_KEY)
    if subscriber is None:
        subscriber = connection.state[_KEY] = Subscriber()
        # It is notified for as long as the connection is open.
        send = ctx.session.send_resource_updated
        ctx.lifespan_context.group.start_soon(subscriber.deliver, send)
        connection.exit_stack.callback(subscriber.close)
    await subscriber.add(ctx.lifespan_context.of_request(), [_topic_of(params.uri)])
    return EmptyResult()


async def _unsubscribe(ctx: _Context, params: UnsubscribeRequestParams) -> EmptyResult:
    subscriber = _require_channel(ctx).state.get(_KEY)
    if subscriber is not None:
        subscriber.remove(params.uri)
    return EmptyResult()


def _require_channel(ctx: _Context) -> Connection:
    connection = connection_of(ctx.session)
    if not connection.has_standalone_channel:
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=ctx.method)
    return connection


class Subscriptions:
    """What a server answers to those who subscribe, and the streams that are open."""

    def __init__(self) -> None:
        self._open: list[tuple[str | None, Subscriber]] = []

    def serve(self, server: Server[Any]) -> None:
        """Have a server answer the requests of both eras."""
        server.add_request_handler("resources/subscribe", SubscribeRequestParams, _subscribe)
        server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, _unsubscribe)
        server.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, self._listen
        )

    def end(self) -> None:
        """Have every stream come to its end; may be called from a signal handler."""
        for _, subscriber in tuple(self._open):
            subscriber.end()

    async def _listen(
        self, ctx: _Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Acknowledge what is subscribed to, then notify until the client leaves or we do.

        With a token it ends when that expires at the latest.

        Runs and tasks that are not there are subscribed to like others; nothing comes of them.
        """
        tenant = tenant_of_request()
        if ctx.request_id is None:
            raise MCPError(code=INVALID_REQUEST, message="a stream of notifications needs an id")
        if sum(owner == tenant for owner, _ in self._open) >= MOST_STREAMS:
            raise MCPError(code=INTERNAL_ERROR, message=f"{MOST_STREAMS} streams are open already")
        wanted = params.notifications
        uris = list(dict.fromkeys(wanted.resource_subscriptions or ()))
        tasks = _parse_task_ids(ctx, wanted)
        topics = [*map(_topic_of, uris), *((_TASK + task, task) for task in tasks)]
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}

        async def send(notification: ServerNotification | Notification[Any, str]) -> None:
            message = cast("ServerNotification", notification)
            await ctx.session.send_notification(message, related_request_id=ctx.request_id)

        async def tell(topic: str) -> None:
            """Say that a resource has changed, or how a task is now."""
            if not topic.startswith(_TASK):
                await send(event_to_notification(ResourceUpdated(topic), meta))
                return
            with suppress(ThoughtNotFound):  # forgotten; the next request for it reports that
                store = ctx.lifespan_context.of_request().store
                params = {**await detailed_task(store, topic.removeprefix(_TASK)), "_meta": meta}
                await send(_OfTask(method="notifications/tasks", params=params))

        subscriber = Subscriber()
        self._open.append((tenant, subscriber))
        try:
            await subscriber.add(ctx.lifespan_context.of_request(), topics)
            extra: dict[str, Any] = {_TASK_IDS: tasks} if tasks else {}
            # Lists of tools, prompts and resources never change here.
            agreed = SubscriptionFilter(
                tools_list_changed=wanted.tools_list_changed or None,
                prompts_list_changed=wanted.prompts_list_changed or None,
                resources_list_changed=wanted.resources_list_changed or None,
                resource_subscriptions=uris or None,
                **extra,
            )
            accepted = SubscriptionsAcknowledgedNotificationParams(notifications=agreed, _meta=meta)
            await send(SubscriptionsAcknowledgedNotification(params=accepted))
            seconds = math.inf if tenant is None else min(LONGEST_STREAM, seconds_left())
            with anyio.move_on_after(seconds):
                await subscriber.deliver(tell)
        finally:
            self._open.remove((tenant, subscriber))
            subscriber.close()
        return SubscriptionsListenResult(_meta=meta)


def _parse_task_ids(ctx: _Context, wanted: SubscriptionFilter) -> list[str]:
    """The ids of the tasks to report on.

    Raises:
        MCPError: The client has not declared the extension, or these are no ids.
    """
    value: object = (wanted.model_extra or {}).get(_TASK_IDS)
    if value is None:
        return []
    require_client_extension(ctx, TASKS)
    ids = cast("list[object]", value) if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in ids):
        raise MCPError(code=INVALID_PARAMS, message=f"{_TASK_IDS} should be a list of strings")
    return list(dict.fromkeys(cast("list[str]", ids)))
