"""The address and the type of an answer as clients ask for them, at `/mcp`."""

import json
from collections.abc import Iterator
from typing import cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MCP = "/mcp"
_BOTH = b"application/json, text/event-stream"
_JSON = frozenset({"application/json", "application/*", "*/*"})
_EVENTS = frozenset({"text/event-stream", "text/*", "*/*"})


def negotiated(app: ASGIApp) -> ASGIApp:
    """Answers in the type that a client takes, and at the address with a slash behind it too.

    The protocol has clients take both types and leaves the choice to the server, whose answers are
    event streams. One that takes JSON alone gets the message that the stream ends with.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as one that takes both types."""
        if scope["type"] == "http" and scope["path"].removesuffix("/") == MCP:
            scope = {**scope, "path": MCP, "raw_path": MCP.encode()}
            taken = Headers(scope=scope).getlist("accept")
            kinds = {each.split(";")[0].strip().lower() for each in ",".join(taken).split(",")}
            if not any(kinds) or kinds & (_JSON | _EVENTS):
                others = [pair for pair in scope["headers"] if pair[0] != b"accept"]
                scope["headers"] = [*others, (b"accept", _BOTH)]
                if any(kinds) and not kinds & _EVENTS:
                    send = _as_json(send)
        await app(scope, receive, send)

    return answer


def _as_json(send: Send) -> Send:
    """Sends the message that an event stream ends with, in place of the stream."""
    start: Message | None = None
    stream = bytearray()

    async def collect(message: Message) -> None:
        """Keep a part of the stream, or send what is no stream."""
        nonlocal start
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith("text/event-stream"):
                start = message
                return
        if start is None:
            await send(message)
            return
        stream.extend(message.get("body", b""))
        if not message.get("more_body", False):
            body = next(_answers(bytes(stream)), b"")
            headers = MutableHeaders(raw=[*start["headers"]])
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(body))
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": body})

    return collect


def _answers(stream: bytes) -> Iterator[bytes]:
    """The messages of a stream that answer a request; the others tell of progress."""
    for line in stream.splitlines():
        said = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
        if said and {"result", "error"} & cast("dict[str, object]", json.loads(said)).keys():
            yield said
