"""Sessions of the handshake era: each caller has so many, which no other caller reaches."""

import math
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka_mcp.notify.subscriptions import LONGEST_STREAM
from sifaka_mcp.tenancy import bearer_of, caller_of, seconds_left, tenant_of_request

MOST_SESSIONS = 10_000
"""Sessions of all callers together."""
_UNKNOWN = (
    "Session not found: it has ended, or the server was started anew. "
    "Send initialize without Mcp-Session-Id to open another."
)


@dataclass(eq=False)
class _Session:
    caller: str
    tenant: str | None
    bearer: object
    """Who has opened it, and alone may end it."""
    opening: Scope
    """The request that has opened it, in whose name it is ended."""
    under_way: int = 0
    """Requests, and an open stream."""
    idle_since: float = field(default_factory=anyio.current_time)
    """When the last of them came to its end."""

    @contextmanager
    def used(self) -> Generator[None]:
        """Within it a request is under way."""
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self.idle_since = anyio.current_time()


class Sessions:
    """Passes the requests of the handshake era on to their sessions, and counts those.

    One more than a caller may have ends the one that the caller has not used for longest: many
    clients open a session and never end it. Where each has a request under way, none is opened.

    A session that is unknown, or another tenant's, is answered with 404, which has a client open
    another; so is a request to end one that another token of the tenant has opened. A stream of
    notifications ends with the token that has opened it, and after an hour at the latest; without a
    token it stays.

    Args:
        app: What answers, and knows the sessions too.
        most: Sessions of one caller.
        seconds: After which an unused session ends.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._seconds = seconds
        self._open: dict[str, _Session] = {}
        self._ended = anyio.Event()

    def count(self) -> int:
        """The number of those that are open."""
        return sum(not self._is_over(session) for session in tuple(self._open.values()))

    def end_streams(self) -> None:
        """Have every stream of notifications come to its end; may be called by a signal handler."""
        self._ended.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        headers = Headers(scope=scope)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
            return
        if session_id is None:
            await self._open_session(scope, receive, send)
            return
        session = self._open.get(session_id)
        is_its_end = scope["method"] == "DELETE"
        if (
            session is None
            or session.tenant != tenant_of_request()
            or self._is_over(session)
            or (is_its_end and session.bearer != bearer_of(scope))
        ):
            await _refusal(404, INVALID_REQUEST, _UNKNOWN)(scope, receive, send)
            return
        answer = self._answer_stream if scope["method"] == "GET" else self._app
        try:
            with session.used():
                await answer(scope, receive, send)
        finally:
            if is_its_end:
                self._open.pop(session_id, None)

    async def _open_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may open a session."""
        caller = caller_of(scope)
        if sum(session.under_way > 0 for session in self._of_caller(caller).values()) >= self._most:
            await _refusal(
                503,
                INTERNAL_ERROR,
                "Too many open sessions, each with a request under way: end one, or wait.",
            )(scope, receive, send)
            return

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                session_id = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if session_id is not None:
                    session = _Session(caller, tenant_of_request(), bearer_of(scope), scope)
                    using.enter_context(session.used())
                    await self._add(session_id, session)
            await send(message)

        with ExitStack() as using:
            await self._app(scope, receive, watch)

    async def _add(self, session_id: str, session: _Session) -> None:
        """Add a new session, and end those that its caller has beyond the limit."""
        self._open = {key: old for key, old in self._open.items() if not self._is_over(old)}
        self._open[session_id] = session
        own = self._of_caller(session.caller)
        unused = [(key, each) for key, each in own.items() if not each.under_way]
        unused.sort(key=lambda pair: pair[1].idle_since)
        for key, each in unused[: max(0, len(own) - self._most)]:
            del self._open[key]
            name = [(MCP_SESSION_ID_HEADER.encode(), key.encode())]
            await self._app({**each.opening, "method": "DELETE", "headers": name}, _empty, _ignore)

    async def _answer_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the stream of a session, for as long as it may be open."""
        seconds = math.inf if tenant_of_request() is None else min(LONGEST_STREAM, seconds_left())
        deadline = anyio.current_time() + seconds
        is_open = False

        async def watch(message: Message) -> None:
            nonlocal is_open
            is_open = message.get("more_body", True)
            await send(message)

        await self._app(scope, partial(self._receive_until, receive, deadline), watch)
        if is_open:  # the stream has ended before its client left
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _receive_until(self, receive: Receive, deadline: float) -> Message:
        """The next message of a client with an open stream; a disconnect at the deadline."""
        message: Message = {"type": "http.disconnect"}

        async def listen() -> None:
            nonlocal message
            message = await receive()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.cancel_scope.deadline = deadline
            group.start_soon(listen)
            await self._ended.wait()
            group.cancel_scope.cancel()
        return message

    def _is_over(self, session: _Session) -> bool:
        return not session.under_way and anyio.current_time() - session.idle_since >= self._seconds

    def _of_caller(self, caller: str) -> dict[str, _Session]:
        return {key: each for key, each in self._open.items() if each.caller == caller}


async def _empty() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(message: Message) -> None:
    del message


def _refusal(status: int, code: int, message: str) -> JSONResponse:
    return JSONResponse(
        {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}},
        status_code=status,
    )
