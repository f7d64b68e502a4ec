"""Checks Host and Origin headers, so that no web page can reach a server in secret."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sifaka_mcp.settings.http import HttpSettings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SINGLE = frozenset({b"host", b"origin", b"authorization"})
"""Headers of which a proxy and this server might read different ones, if there were several."""


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
