"""The address and the type of an answer as clients ask for them, at `/mcp`."""

import json
from collections.abc import Iterator
from typing import cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BOTH = b"application/json, text/event-stream"
_JSON = frozenset({"application/json", "application/*", "*/*"})
_EVENTS = frozenset({"text/event-stream", "text/*", "*/*"})


class Negotiated:
    """Answers in the type that a client takes, and at the address with a slash behind it too.

    The protocol has clients take both types and leaves the choice to the server, whose answers are
    event streams. One that takes JSON alone gets the message that the stream ends with.

    Args:
        app: What answers.
        path: Where it does.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as one that takes both types."""
        if scope["type"] == "http" and scope["path"].removesuffix("/") == self._path:
            scope = {**scope, "path": self._path, "raw_path": self._path.encode()}
            taken = Headers(scope=scope).getlist("accept")
            kinds = {each.split(";")[0].strip().lower() for each in ",".join(taken).split(",")}
            if not any(kinds) or kinds & (_JSON | _EVENTS):
                others = [pair for pair in scope["headers"] if pair[0] != b"accept"]
                scope["headers"] = [*others, (b"accept", _BOTH)]
                if any(kinds) and not kinds & _EVENTS:
                    send = _AsJson(send)
        await self._app(scope, receive, send)


class _AsJson:
    """Sends the message that an event stream ends with, in place of the stream."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        """Keep a part of the stream, or send what is no stream."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith("text/event-stream"):
                self._start = message
                return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._end(self._start)

    async def _end(self, start: Message) -> None:
        body = next(_answers(bytes(self._body)), b"")
        headers = MutableHeaders(raw=[*start["headers"]])
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(body))
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})


def _answers(stream: bytes) -> Iterator[bytes]:
    """The messages of a stream that answer a request; the others tell of progress."""
    for line in stream.splitlines():
        said = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
        if said and {"result", "error"} & cast("dict[str, object]", json.loads(said)).keys():
            yield said
