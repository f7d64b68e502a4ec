"""Reads the bodies of requests whole: none too large, and not too much of one caller's at once."""

from collections import Counter

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka_mcp.http.throttle import refusal
from sifaka_mcp.tenancy import caller_of

LARGEST_AT_ONCE = 4
"""The bodies of the largest size that one caller may have under way together."""


class WholeBodies:
    """Passes a request on once its body is there.

    A body that is too large gets 413, and one that would make too much of its caller's unfinished
    ones 429. A client that leaves before the end of its body gets nothing: there is no request.

    Args:
        app: What answers.
        largest: Bytes of one body.
        anonymous: True when no token is asked for; otherwise only the bodies of requests with a
            valid one are read.
    """

    def __init__(self, app: ASGIApp, *, largest: int, anonymous: bool) -> None:
        self._app = app
        self._largest = largest
        self._most = LARGEST_AT_ONCE * largest
        self._anonymous = anonymous
        self._unfinished: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then pass the request on or refuse it."""
        if scope["type"] != "http" or not (
            self._anonymous or isinstance(scope.get("user"), AuthenticatedUser)
        ):
            await self._app(scope, receive, send)
            return
        body = await self._body(scope, receive)
        if body is None:
            return
        if isinstance(body, Response):
            await body(scope, receive, send)
            return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        del body

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, replay, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """The whole body, the refusal of it, or None when its client has left."""
        told = Headers(scope=scope).get("content-length", "")
        if told.isdecimal() and int(told) > self._largest:
            return _too_large()
        caller, parts, size = caller_of(scope), list[bytes](), 0
        try:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part: bytes = message.get("body", b"")
                size += len(part)
                self._unfinished[caller] += len(part)
                if size > self._largest:
                    return _too_large()
                if self._unfinished[caller] > self._most:
                    return refusal(1, f"more than {self._most} bytes of bodies are under way")
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
        finally:
            self._unfinished[caller] -= size
            if not self._unfinished[caller]:
                del self._unfinished[caller]


def _too_large() -> Response:
    return Response("Request body too large", status_code=413)
