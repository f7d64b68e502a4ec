"""What is done before MCP sees a request: foreign names, methods and types of answers."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka_mcp.auth.access import PAUSE, IssuerUnavailable
from sifaka_mcp.settings.http import MAX_PORT, HttpSettings

_LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
_SINGLE = frozenset({b"host", b"origin", b"authorization"})
"""Headers of which a proxy and this server might read different ones, if there were several."""
_SESSIONS = frozenset({"GET", "HEAD", "DELETE"})
_ORIGIN = re.compile(
    r"(?:(https?)://)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\*|[0-9]{0,5}))?", re.IGNORECASE
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}
MCP = "/mcp"
_BOTH = b"application/json, text/event-stream"
_JSON = frozenset({"application/json", "application/*", "*/*"})
_ANSWER = {"result", "error"}
"""The keys of a message that answers a request, of which each has one."""
_EVENTS = frozenset({"text/event-stream", "text/*", "*/*"})


@dataclass(frozen=True, slots=True)
class Origin:
    """A scheme, a host and a port, which are compared as those of URLs are."""

    scheme: str
    """Empty where it is not given, as in a Host header."""
    host: str
    port: str
    """Empty for the default one, `*` for any."""

    @classmethod
    def parse(cls, text: str) -> "Origin | None":
        """The origin, or the host and port, that a header or a setting names; None if it is none.

        Names are compared in small letters, and the default port of a scheme is the same as none.
        Without a scheme both default ports are: TLS may end at a proxy.
        """
        match = _ORIGIN.fullmatch(text)
        if match is None:
            return None
        scheme, host, port = ((each or "").lower() for each in match.groups())
        if port.isdecimal():
            port = str(int(port))
            if int(port) > MAX_PORT:
                return None
        default = {_DEFAULT_PORTS[scheme]} if scheme else set(_DEFAULT_PORTS.values())
        return cls(scheme, host, "" if port in default else port)

    def admits(self, other: "Origin") -> bool:
        """True when this setting names another origin; without a scheme it names those of both."""
        return (
            self.host == other.host
            and self.scheme in {"", other.scheme}
            and self.port in {"*", other.port}
        )


def guarded(app: ASGIApp, *, settings: HttpSettings, unguarded: Iterable[str]) -> ASGIApp:
    """Refuses requests under foreign names before they are read.

    So no web page can reach the server in secret. The names are those of loopback and of the
    settings. An Origin has to be a page of one of them, or one of those that CORS lets in.

    Args:
        app: What it guards.
        settings: What is allowed.
        unguarded: Paths that are answered under any name, such as a load balancer's.
    """
    names = [*_LOOPBACK, *settings.allowed_hosts]
    if settings.public_url is not None:
        names.append(urlsplit(settings.public_url).netloc)
    hosts = [origin for name in names if (origin := Origin.parse(name))]
    pages = (origin for name in settings.cors_origins if (origin := Origin.parse(name)))
    origins = [*hosts, *pages]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 403 or 421, or pass the request on."""
        refusal = None
        if scope["type"] == "http" and scope["path"] not in unguarded:
            refusal = _find_refusal(scope, hosts, origins)
        await (refusal or app)(scope, receive, send)

    return answer


def _find_refusal(
    scope: Scope, hosts: Iterable[Origin], origins: Iterable[Origin]
) -> JSONResponse | None:
    names = [name for name, _ in scope["headers"] if name in _SINGLE]
    if len(names) > len(set(names)):
        return JSONResponse({"error": "repeated_header"}, status_code=400)
    headers = Headers(scope=scope)
    host, origin = Origin.parse(headers.get("host", "")), headers.get("origin")
    if host is None or host.scheme or not any(each.admits(host) for each in hosts):
        return JSONResponse({"error": "unknown_host"}, status_code=421)
    if origin is not None:
        page = Origin.parse(origin)
        if not (page and page.scheme and any(each.admits(page) for each in origins)):
            return JSONResponse({"error": "unknown_origin"}, status_code=403)
    return None


def with_issuer_errors(app: ASGIApp) -> ASGIApp:
    """Answers 503, for a 401 would have clients throw tokens away that are good."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and answer it if no token could be checked."""
        try:
            await app(scope, receive, send)
        except IssuerUnavailable:
            await JSONResponse(
                {
                    "error": "temporarily_unavailable",
                    "error_description": "tokens cannot be checked now",
                },
                status_code=503,
                headers={"retry-after": f"{PAUSE:.0f}"},
            )(scope, receive, send)

    return answer


def post_only(app: ASGIApp) -> ASGIApp:
    """Answers 405 to what only a server with sessions serves: a stream of its own, and its end.

    The specification lets a server say so. The stream of one that has nothing to send on it would
    keep a connection open for as long as the client likes, and hold up the end of the server.
    """
    refusal = JSONResponse(
        {"error": "method_not_allowed"}, status_code=405, headers={"allow": "POST"}
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        await (refusal if scope["method"] in _SESSIONS else app)(scope, receive, send)

    return answer


def negotiated(app: ASGIApp) -> ASGIApp:
    """Answers in the type that a client takes, and at the address with a slash behind it too.

    The protocol has clients take both types and leaves the choice to the server, whose answers are
    event streams. One that takes JSON alone gets the message that the stream ends with.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as one that takes both types."""
        if scope["type"] == "http" and scope["path"].removesuffix("/") == MCP:
            scope = {**scope, "path": MCP, "raw_path": MCP.encode()}
            accept = ",".join(Headers(scope=scope).getlist("accept"))
            kinds = {each.split(";")[0].strip().lower() for each in accept.split(",")}
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
            messages = (each.strip() for each in re.findall(rb"(?m)^data:(.*)", stream))
            # The others report progress.
            answers = (each for each in messages if each and _ANSWER & json.loads(each).keys())
            body = next(answers, b"")
            headers = MutableHeaders(raw=[*start["headers"]])
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(body))
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": body})

    return collect
