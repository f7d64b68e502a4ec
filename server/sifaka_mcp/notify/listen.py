"""The era of 2026-07-28: `subscriptions/listen`, answered with a stream of notifications."""

import math
from collections.abc import Iterable
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Notification,
    RequestId,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    ServerNotification,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from sifaka.errors import ThoughtNotFound
from sifaka_mcp.host.extensions import TASKS
from sifaka_mcp.notify.subscribe import Subscriber, run_of
from sifaka_mcp.state import AppState
from sifaka_mcp.tenancy import seconds_left, tenant_of_request

MOST_STREAMS = 1000
"""Streams that are open for one tenant at the same time."""
LONGEST_STREAM = 3600.0
"""Seconds until a stream that a token has opened comes to its end, so that its client has to show
one again: a token that was withdrawn is of no use for long."""
_Context = ServerRequestContext[AppState, Any]
_TASK_IDS = "taskIds"
"""The name of the tasks extension for the tasks a client subscribes to."""
_TASK = "task "
"""Tells the topic of a task from those of resources: there is no space in an address."""


class Listening:
    """The streams that are open."""

    def __init__(self) -> None:
        self._open: list[tuple[str | None, Subscriber]] = []

    def serve(self, server: Server[Any]) -> None:
        """Have a server answer `subscriptions/listen`."""
        params = SubscriptionsListenRequestParams
        server.add_request_handler("subscriptions/listen", params, self._listen)

    def end(self) -> None:
        """Have every stream come to its end; may be called from a signal handler."""
        for _, subscriber in tuple(self._open):
            subscriber.end()

    async def _listen(
        self, ctx: _Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Acknowledge what is subscribed to, then notify until the client leaves or we do.

        With a token it ends when that expires at the latest.

        Runs and tasks that are not there are subscribed to like others and never heard of.
        """
        tenant = tenant_of_request()
        if ctx.request_id is None:
            raise MCPError(code=INVALID_REQUEST, message="a stream of notifications needs an id")
        if sum(owner == tenant for owner, _ in self._open) >= MOST_STREAMS:
            raise MCPError(code=INTERNAL_ERROR, message=f"{MOST_STREAMS} streams are open already")
        wanted = params.notifications
        uris = list(dict.fromkeys(wanted.resource_subscriptions or ()))
        tasks = _tasks(ctx, wanted)
        topics = [(uri, run_of(uri)) for uri in uris] + [(_TASK + task, task) for task in tasks]
        stream, subscriber = _Stream(ctx, ctx.request_id), Subscriber()
        self._open.append((tenant, subscriber))
        try:
            await subscriber.add(ctx.lifespan_context.of_request(), topics)
            await stream.acknowledge(wanted, uris, tasks)
            seconds = math.inf if tenant is None else min(LONGEST_STREAM, seconds_left())
            with anyio.move_on_after(seconds):
                await subscriber.deliver(stream.tell)
        finally:
            self._open.remove((tenant, subscriber))
            subscriber.close()
        return SubscriptionsListenResult(_meta=stream.meta)


class _Stream:
    """The answer to one request, each of its notifications marked with the request's id."""

    def __init__(self, ctx: _Context, request_id: RequestId) -> None:
        self._ctx = ctx
        self._id = request_id
        self.meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request_id}

    async def acknowledge(
        self, wanted: SubscriptionFilter, uris: Iterable[str], tasks: Iterable[str]
    ) -> None:
        """Say what will be told. Lists of tools, prompts and resources never change here."""
        extra: dict[str, Any] = {_TASK_IDS: list(tasks)} if tasks else {}
        agreed = SubscriptionFilter(
            tools_list_changed=wanted.tools_list_changed or None,
            prompts_list_changed=wanted.prompts_list_changed or None,
            resources_list_changed=wanted.resources_list_changed or None,
            resource_subscriptions=list(uris) or None,
            **extra,
        )
        await self._send(
            SubscriptionsAcknowledgedNotification(
                params=SubscriptionsAcknowledgedNotificationParams(
                    notifications=agreed, _meta=self.meta
                )
            )
        )

    async def tell(self, topic: str) -> None:
        """Say that a resource has changed, or how a task is now."""
        if topic.startswith(_TASK):
            await self._tell_of_task(topic.removeprefix(_TASK))
            return
        await self._send(
            ResourceUpdatedNotification(
                params=ResourceUpdatedNotificationParams(uri=topic, _meta=self.meta)
            )
        )

    async def _tell_of_task(self, run_id: str) -> None:
        from sifaka_mcp.tasks.wire import detailed_task

        try:
            task = await detailed_task(self._ctx.lifespan_context.of_request().store, run_id)
        except ThoughtNotFound:
            return  # forgotten; the next request for it reports that
        params = {**task, "_meta": self.meta}
        await self._send(
            Notification[dict[str, Any], str](method="notifications/tasks", params=params)
        )

    async def _send(self, notification: ServerNotification | Notification[Any, str]) -> None:
        await self._ctx.session.send_notification(
            cast("ServerNotification", notification), related_request_id=self._id
        )


def _tasks(ctx: _Context, wanted: SubscriptionFilter) -> list[str]:
    """The tasks to tell of.

    Raises:
        MCPError: The client has not declared the extension, or these are no ids.
    """
    asked: object = (wanted.model_extra or {}).get(_TASK_IDS)
    if asked is None:
        return []
    require_client_extension(ctx, TASKS)
    ids = cast("list[object]", asked) if isinstance(asked, list) else [asked]
    if not all(isinstance(each, str) for each in ids):
        raise MCPError(code=INVALID_PARAMS, message=f"{_TASK_IDS} should be a list of strings")
    return list(dict.fromkeys(cast("list[str]", ids)))
