"""The handshake era over HTTP without sessions: `notifications/cancelled` finds its request."""

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp_types import RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request

from sifaka_mcp.host.session import cancel_requested, connection_of
from sifaka_mcp.tenancy import caller_of

_MOST_KEPT = 10_000
_SECONDS = 2.0
"""How long a notification may have been on its way when its request was answered."""
_Context = ServerRequestContext[Any, Any]
_Name = tuple[str, RequestId]
"""A client, as far as it differs from others, and a request number of its own."""


@dataclass(eq=False)
class _Call:
    session: ServerSession
    names: tuple[RequestId, ...]
    """Its number, then its progress token if it has another."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Cancellations:
    """Middleware: a notification stops the call of a tool that it names.

    Without sessions it comes as a request of its own. Its client is known by tenant or address, by
    its token and its name; it names the number of the request, or its progress token. Clients count
    their requests, so two of one user may use the same number: where it is, or has just been,
    another's too, nothing is stopped. The notification may be ignored, as the specification has it.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[_Call]] = {}
        self._answered: OrderedDict[_Name, float] = OrderedDict()

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Have a call stopped by a notification, or pass a message on."""
        if ctx.method not in {"tools/call", "notifications/cancelled"} or not _is_alone(ctx):
            return await call_next(ctx)
        client = _client_of(cast("Request", ctx.request))
        if ctx.request_id is None:
            self._cancel(client, ctx.params or {})
            return await call_next(ctx)
        call = _Call(ctx.session, _parse_names(ctx.request_id, _token_of(ctx.params)))
        calls = self._calls.setdefault(client, [])
        calls.append(call)
        try:
            with call.scope:
                return await call_next(ctx)
            return {}  # it is never sent: a cancelled request is answered by the transport
        finally:
            calls.remove(call)
            if not calls:
                self._calls.pop(client, None)
            name = (client, call.names[0])
            self._answered[name] = anyio.current_time()
            self._answered.move_to_end(name)
            if len(self._answered) > _MOST_KEPT:
                self._answered.popitem(last=False)

    def _cancel(self, client: str, params: Mapping[str, Any]) -> None:
        """Stop the only call that the names of a notification fit."""
        names = set(_parse_names(params.get("requestId"), _token_of(params)))
        calls = [each for each in self._calls.get(client, ()) if names.intersection(each.names)]
        times = (self._answered.get((client, each), -math.inf) for each in names)
        if len(calls) == 1 and anyio.current_time() - max(times) >= _SECONDS:
            cancel_requested(calls[0].session).set()
            calls[0].scope.cancel()


def _is_alone(ctx: _Context) -> bool:
    """True for a message of the handshake era over HTTP that belongs to no session."""
    return (
        isinstance(ctx.request, Request)
        and ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
        and not connection_of(ctx.session).has_standalone_channel
    )


def _client_of(request: Request) -> str:
    headers = [request.headers.get(name, "") for name in ("authorization", "user-agent")]
    identity = "\n".join([caller_of(request.scope), *headers])
    return sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def _parse_names(*values: object) -> tuple[RequestId, ...]:
    ids = (as_request_id(each) for each in values)
    return tuple(dict.fromkeys(coerce_request_id(each) for each in ids if each is not None))


def _token_of(params: Mapping[str, Any] | None) -> object:
    meta: object = (params or {}).get("_meta")
    return cast("dict[str, Any]", meta).get("progressToken") if isinstance(meta, dict) else None
