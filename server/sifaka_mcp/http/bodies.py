"""Reads the bodies of requests whole: none too large, and not too much of one caller's at once."""

import re
from codecs import BOM_UTF8
from collections import Counter
from functools import partial

import anyio
from anyio.lowlevel import checkpoint
from mcp_types import JSONRPCError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka_mcp.http.negotiation import MCP
from sifaka_mcp.http.throttle import refusal
from sifaka_mcp.stdio import BATCH
from sifaka_mcp.tenancy import caller_of

LARGEST_AT_ONCE = 4
"""The bodies of the largest size that one caller may have under way together."""
MOST_VALUES = 100_000
"""The strings, lists, objects and commas of a body: the parser makes so many in 30 ms at the most,
in which nothing else is answered."""
_IN_TURN = 64 * 1024
"""Bytes that are counted at once, and from which bodies are parsed one after the other."""
_BATCH = re.compile(rb"\s*\[")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
"""A string of JSON, or what there is of one at the end of a part."""


class WholeBodies:
    """Reads the bodies of requests before they are answered.

    A body that is too large, or has too many values, gets 413, and one that would make too much of
    its caller's unfinished ones 429. A client that leaves before the end of its body gets nothing:
    there is no request. Of large bodies one is passed on at a time, since they are parsed at once.

    A byte order mark before a body is dropped, and several messages at once are refused.

    Args:
        largest: Bytes of one body.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._most = LARGEST_AT_ONCE * largest
        self._unfinished: Counter[str] = Counter()
        self._turn = anyio.Lock()

    def before(self, app: ASGIApp) -> ASGIApp:
        """The same app, to which a request is passed on once its body is there."""
        return partial(self._answer, app)

    async def _answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._body(scope, receive)
        if isinstance(body, bytes) and scope["path"] == MCP and _BATCH.match(body):
            told = JSONRPCError(jsonrpc="2.0", id=None, error=BATCH)
            body = JSONResponse(told.model_dump(exclude_none=True) | {"id": None}, status_code=400)
        if body is None:
            return
        if isinstance(body, Response):
            await body(scope, receive, send)
            return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        is_large = len(body) > _IN_TURN
        del body

        async def replay() -> Message:
            if whole and is_large:
                # It is parsed where this returns; who waits goes on in a later round of the loop.
                async with self._turn:
                    await checkpoint()
            return whole.pop() if whole else await receive()

        await app(scope, replay, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """The whole body, the refusal of it, or None when its client has left."""
        told = Headers(scope=scope).get("content-length", "")
        if told.isdecimal() and int(told) > self._largest:
            return _too_large()
        caller, parts, size, values = caller_of(scope), list[bytes](), 0, _Values()
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
                for at in range(0, len(part), _IN_TURN):
                    if at:
                        await checkpoint()  # others are answered between
                    if values.add(part[at : at + _IN_TURN]) > MOST_VALUES:
                        return _too_large(f"Too many values in the request, at most {MOST_VALUES}")
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts).removeprefix(BOM_UTF8)
        finally:
            self._unfinished[caller] -= size
            if not self._unfinished[caller]:
                del self._unfinished[caller]


class _Values:
    """Counts what a parser will make of JSON that comes in parts."""

    def __init__(self) -> None:
        self._count = 0
        self._begun = b""
        """What stands for a string that the last part has not ended."""

    def add(self, part: bytes) -> int:
        """The number with this part."""
        outside, strings = _STRING.subn(rb'"\1', self._begun + part)
        self._count += strings - bool(self._begun) + sum(map(outside.count, (b",", b"[", b"{")))
        # Each string that has ended leaves two quotes; of the last one its backslash may be left.
        is_open = outside.count(b'"') % 2
        self._begun = outside[outside.rindex(b'"') :] if is_open else b""
        return self._count


def _too_large(told: str = "Request body too large") -> Response:
    return Response(told, status_code=413)
