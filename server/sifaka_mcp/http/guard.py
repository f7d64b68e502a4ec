"""Refuses requests before MCP sees them: foreign names, methods it does not serve, unknown keys."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sifaka_mcp.auth.jwks import PAUSE, IssuerUnavailable
from sifaka_mcp.settings.http import HttpSettings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SINGLE = frozenset({b"host", b"origin", b"authorization"})
"""Headers of which a proxy and this server might read different ones, if there were several."""
_SESSIONS = frozenset({"GET", "HEAD", "DELETE"})


def allowed(settings: HttpSettings) -> TransportSecuritySettings:
    """The Host and Origin headers that are answered: those of loopback and those of the settings.

    An Origin has to be a page of one of the hosts, or one of those that CORS lets in.
    """
    hosts = [*_LOOPBACK, *(f"{host}:*" for host in _LOOPBACK), *settings.allowed_hosts]
    if settings.public_url is not None:
        hosts.append(urlsplit(settings.public_url).netloc)
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[*origins, *settings.cors_origins],
    )


class Guard:
    """Refuses requests under foreign names before anything of them is looked at.

    Args:
        app: What it guards.
        settings: What is allowed.
        unguarded: Paths that are answered under any name, such as a load balancer's.
    """

    def __init__(
        self, app: ASGIApp, *, settings: TransportSecuritySettings, unguarded: Iterable[str]
    ) -> None:
        self._app = app
        self._checks = TransportSecurityMiddleware(settings)
        self._unguarded = frozenset(unguarded)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 403 or 421, or pass the request on."""
        answer: ASGIApp | None = None
        if scope["type"] == "http" and scope["path"] not in self._unguarded:
            names = [name for name, _ in scope["headers"] if name in _SINGLE]
            if len(names) > len(set(names)):
                answer = JSONResponse({"error": "repeated_header"}, status_code=400)
            else:
                answer = await self._checks.validate_request(Request(scope))
        await (answer or self._app)(scope, receive, send)


class IssuerErrors:
    """Answers 503, for a 401 would have clients throw tokens away that are good."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and answer it if no token could be checked."""
        try:
            await self._app(scope, receive, send)
        except IssuerUnavailable:
            answer = JSONResponse(
                {
                    "error": "temporarily_unavailable",
                    "error_description": "tokens cannot be checked now",
                },
                status_code=503,
                headers={"retry-after": f"{PAUSE:.0f}"},
            )
            await answer(scope, receive, send)


class PostOnly:
    """Answers 405 to what only a server with sessions serves: a stream of its own, and its end.

    The specification lets a server say so. The stream of one that has nothing to send on it would
    keep a connection open for as long as the client likes, and hold up the end of the server.

    Args:
        app: What it stands before.
        path: Where that is.
        anonymous: True when no token is asked for; otherwise a missing token is reported first.
    """

    def __init__(self, app: ASGIApp, *, path: str, anonymous: bool) -> None:
        self._app = app
        self._path = path
        self._anonymous = anonymous

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        app = self._app
        if (
            scope["type"] == "http"
            and scope["path"] == self._path
            and scope["method"] in _SESSIONS
            and (self._anonymous or isinstance(scope.get("user"), AuthenticatedUser))
        ):
            app = JSONResponse(
                {"error": "method_not_allowed"}, status_code=405, headers={"allow": "POST"}
            )
        await app(scope, receive, send)
