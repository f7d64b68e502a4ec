"""The server over Streamable HTTP."""

import socket
import sys

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse

from server.app import SifakaServer
from server.settings import Settings
from sifaka.errors import ConfigurationError

MAX_BODY = 16 * 1024 * 1024
"""Bytes. Larger than any text we take, so that a text that is too long is told so by the tool."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def create_http_app(settings: Settings) -> Starlette:
    """The ASGI application: MCP at `/mcp`, liveness at `/healthz`.

    Stateless: any replica answers any request. Answers are event streams, so that a client that
    disconnects cancels its work. A `notifications/cancelled` of the handshake era arrives as a
    request of its own, which a stateless server cannot relate to another: there, cancel_run stops a
    run, or leaving does.
    """
    server = SifakaServer(settings)

    @server.custom_route("/healthz", methods=["GET"])
    async def healthz(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    hosts = [f"{host}:*" for host in _LOOPBACK] + list(_LOOPBACK) + list(settings.allowed_hosts)
    return server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=hosts,
            allowed_origins=[
                f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts
            ],
        ),
    )


def serve_http(settings: Settings, host: str, port: int) -> None:
    """Serve until told to stop.

    Raises:
        ConfigurationError: The address cannot be listened on.
    """
    try:
        listener = socket.create_server((host, port), reuse_port=False)
    except OSError as error:  # a name that does not resolve is one too
        raise ConfigurationError(
            f"cannot listen on {host}:{port}: {error.strerror}", "choose another --host or --port"
        ) from error
    config = uvicorn.Config(
        create_http_app(settings),
        http="httptools",
        log_level=settings.log_level.lower(),
        log_config=None,
        timeout_graceful_shutdown=5,
    )
    # Whoever reads this may connect at once: the socket listens already.
    url = f"http://{host}:{listener.getsockname()[1]}/mcp"
    print(f"sifaka: listening on {url}", file=sys.stderr, flush=True)
    if host not in {"127.0.0.1", "localhost", "::1"}:
        print("sifaka: anybody who reaches this address can use it", file=sys.stderr, flush=True)
    uvicorn.Server(config).run(sockets=[listener])
