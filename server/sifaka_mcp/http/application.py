"""The ASGI application: MCP at `/mcp`, runs as pages, and what operators ask for beside it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, nullcontext
from typing import Any

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
from starlette.routing import Route

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.auth.access import access_of
from sifaka_mcp.host.sampling import KEY_HEADER
from sifaka_mcp.http.guard import MCP, guarded, negotiated, post_only, with_issuer_errors
from sifaka_mcp.http.limits import Rates, WholeBodies, throttled
from sifaka_mcp.http.monitoring import ALIVE, Metrics, Readiness
from sifaka_mcp.http.runs import RUNS, TOOL, page_routes
from sifaka_mcp.http.sessions import MOST_SESSIONS, Sessions
from sifaka_mcp.settings import Settings
from sifaka_mcp.state import AppState
from sifaka_mcp.stores.catalogue import redis_of

METRICS, HEALTH, READY = "/metrics", "/healthz", "/readyz"
EVIDENCE = ("/v1/search", "/v1/plan", "/v1/health", "/v1/health/adapters")
_OPEN = (HEALTH, READY)
"""Paths for load balancers, open to any address without a token; the answers hold no data."""
_ALLOW_HEADERS = [
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
_EXPOSE_HEADERS = ["mcp-session-id", MCP_PROTOCOL_VERSION_HEADER, "retry-after", "www-authenticate"]
_PREFLIGHT_SECONDS = 600


def create_http_app(settings: Settings, url: str, make: type[SifakaServer]) -> Starlette:
    """The application; it opens what it works with when it starts, and closes it when it ends.

    Stateless unless the settings ask for sessions: any replica answers any request, and a client
    that disconnects cancels its work, for answers are event streams. In a session, the handshake
    era's, a client that disconnects cancels nothing, as the specification has it.

    Args:
        settings: Those of the server.
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
    bodies = WholeBodies(settings.max_body_bytes)
    route: Any = app.router.routes[0]  # the SDK's own, of MCP
    if access:
        route = route.app  # what asks for the token
    inner = bodies.before(route.app)
    sessions = Sessions(inner, settings.max_sessions, settings.session_seconds)
    route.app = sessions if settings.sessions else post_only(inner)

    def state() -> AppState:
        assert server.state is not None, "requests come while the server runs"
        return server.state

    asking = [Middleware(RequireAuthMiddleware, required_scopes=[])] if access else []
    admitting = [*asking, Middleware(bodies.before)]
    metrics = Metrics(
        state,
        paths=(MCP, METRICS, HEALTH, READY, RUNS, *EVIDENCE),
        sessions=sessions.count,
        access_log=settings.access_log,
    )
    app.router.routes += [
        Route(HEALTH, ALIVE, methods=["GET"]),
        Route(READY, Readiness(lambda: state().store).answer),
        Route(METRICS, metrics.answer, middleware=admitting),
        *(page_routes(state, access) if TOOL in settings.tools else ()),
    ]
    if "search_evidence" in settings.tools:
        from sifaka_mcp.http.evidence import evidence_routes

        app.router.routes += evidence_routes(state, admitting)
    # A page that comes here by a false name has no token; Prometheus asks by address.
    unguarded = (*_OPEN, METRICS) if access else _OPEN
    rates = None
    if settings.rate_limit is not None:
        rates = Rates(settings.rate_limit, redis_of(settings.store, tenant=settings.tenant))
    cors = Middleware(
        CORSMiddleware,
        allow_origins=settings.cors_origins,
        allow_methods=["GET", "POST", *(["DELETE"] if settings.sessions else [])],
        allow_headers=_ALLOW_HEADERS,
        expose_headers=_EXPOSE_HEADERS,
        max_age=_PREFLIGHT_SECONDS,
    )
    # The SDK's own authenticate the request, outermost first as all of them.
    app.user_middleware = [
        Middleware(metrics.measured),
        *([cors] if settings.cors_origins else []),
        Middleware(negotiated),
        Middleware(guarded, settings=settings, unguarded=unguarded),
        Middleware(with_issuer_errors),
        *app.user_middleware,
        Middleware(throttled, rates=rates, most=settings.max_requests, unlimited=_OPEN),
    ]
    run = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        """Load what calls need at the start: no client waits for a handshake meanwhile."""
        async with run(app), aclosing(rates) if rates else nullcontext():
            state().warm_up()
            yield

    def ending() -> None:
        server.ending()
        sessions.end_streams()

    app.router.lifespan_context = lifespan
    app.state.ending = ending
    return app
