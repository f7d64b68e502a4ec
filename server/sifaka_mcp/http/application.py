"""The ASGI application: MCP at `/mcp`, runs as pages, and what operators ask for beside it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route, request_response
from starlette.types import ASGIApp

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.auth.access import access_of
from sifaka_mcp.host.sampling import KEY_HEADER
from sifaka_mcp.http.bodies import WholeBodies
from sifaka_mcp.http.guard import Guard, IssuerErrors, PostOnly
from sifaka_mcp.http.health import Readiness, alive
from sifaka_mcp.http.metrics import Measured, Metrics
from sifaka_mcp.http.negotiation import Negotiated
from sifaka_mcp.http.runs import RUNS, TOOL, RunPages
from sifaka_mcp.http.sessions import MOST_SESSIONS, InSession, Sessions
from sifaka_mcp.http.throttle import Rates, Throttle
from sifaka_mcp.settings import Settings
from sifaka_mcp.stores.catalogue import redis_of

MCP, METRICS, HEALTH, READY = "/mcp", "/metrics", "/healthz", "/readyz"
EVIDENCE = ("/v1/search", "/v1/search/batch", "/v1/plan", "/v1/health", "/v1/health/adapters")
_OPEN = (HEALTH, READY)
"""Paths for load balancers, open to any address without a token; the answers hold no data."""
_ASKED_WITH = [
    "accept",
    "authorization",
    "content-type",
    KEY_HEADER,
    "last-event-id",
    "mcp-session-id",
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
]
_ANSWERED_WITH = ["mcp-session-id", MCP_PROTOCOL_VERSION_HEADER, "retry-after", "www-authenticate"]
_PREFLIGHT_SECONDS = 600


def create_http_app(settings: Settings, url: str, make: type[SifakaServer]) -> Starlette:
    """The application; it opens what it works with when it starts, and closes it when it ends.

    Stateless unless the settings ask for sessions: any replica answers any request, and a client
    that disconnects cancels its work, for answers are event streams. In a session, the handshake
    era's, a client that disconnects cancels nothing, as the specification has it.

    Args:
        settings: What the server was told.
        url: Where it listens, which is what clients call it unless there is a `public_url`.
        make: What is served.

    Raises:
        ConfigurationError: The tokens file cannot be read, or is wrong.
    """
    access = access_of(settings, settings.public_url or url)
    server = make(settings, access)
    app = server.streamable_http_app(
        streamable_http_path=MCP,
        stateless_http=not settings.sessions,
        session_idle_timeout=settings.session_seconds,
        max_sessions=MOST_SESSIONS,
        max_request_body_size=settings.max_body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    paths = (MCP, METRICS, HEALTH, READY, RUNS, *EVIDENCE)
    sessions = Sessions(settings.max_sessions, settings.session_seconds)
    metrics = Metrics(
        lambda: server.state,
        paths=paths,
        sessions=sessions.count,
        access_log=settings.access_log,
    )
    ready = Readiness(lambda: server.state and server.state.store)
    app.router.routes += [
        Route(HEALTH, alive),
        Route(READY, ready.answer),
        Route(METRICS, _for_tokens(metrics) if access else metrics.answer),
        *(RunPages(lambda: server.state, access).routes() if TOOL in settings.tools else ()),
    ]
    if "search_evidence" in settings.tools:
        app.router.routes += _evidence(server, settings, guarded=access is not None)
    # A page that was led here by a false name has no token; Prometheus asks by address.
    unguarded = (*_OPEN, METRICS) if access else _OPEN
    rates = _rates(settings)
    # The SDK's own authenticate the request, outermost first as all of them.
    app.user_middleware = [
        Middleware(Measured, metrics=metrics),
        *_cors(settings),
        Middleware(Negotiated, path=MCP),
        Middleware(Guard, settings=settings, unguarded=unguarded),
        Middleware(IssuerErrors),
        *app.user_middleware,
        Middleware(Throttle, rates=rates, most=settings.max_requests, unlimited=_OPEN),
        Middleware(InSession, path=MCP, sessions=sessions, anonymous=access is None)
        if settings.sessions
        else Middleware(PostOnly, path=MCP, anonymous=access is None),
        Middleware(
            WholeBodies, path=MCP, largest=settings.max_body_bytes, anonymous=access is None
        ),
    ]
    _warm_and_close(app, server, rates)

    def ending() -> None:
        server.ending()
        sessions.end_streams()

    app.state.ending = ending
    return app


def _evidence(server: SifakaServer, settings: Settings, *, guarded: bool) -> list[Route]:
    from sifaka_mcp.http.evidence import EvidenceRoutes

    answers = EvidenceRoutes(lambda: server.state, settings.max_body_bytes)
    return [
        Route(
            path,
            RequireAuthMiddleware(request_response(answer), []) if guarded else answer,
            methods=[method],
        )
        for method, path, answer in answers.routes
    ]


def _for_tokens(metrics: Metrics) -> ASGIApp:
    return RequireAuthMiddleware(request_response(metrics.answer), [])


def _rates(settings: Settings) -> Rates | None:
    if settings.rate_limit is None:
        return None
    shared = redis_of(settings.store, tenant=settings.tenant)
    if shared is None:
        return Rates(settings.rate_limit)
    redis_url, prefix = shared
    return Rates(settings.rate_limit, redis_url, prefix=prefix)


def _cors(settings: Settings) -> list[Middleware]:
    if not settings.cors_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", *(["DELETE"] if settings.sessions else [])],
            allow_headers=_ASKED_WITH,
            expose_headers=_ANSWERED_WITH,
            max_age=_PREFLIGHT_SECONDS,
        )
    ]


def _warm_and_close(app: Starlette, server: SifakaServer, rates: Rates | None) -> None:
    """Load what calls need when the server starts: no client waits for a handshake meanwhile."""
    run = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with run(app):
            if server.state is not None:
                server.state.warm_up()
            try:
                yield
            finally:
                if rates is not None:
                    await rates.aclose()

    app.router.lifespan_context = lifespan
