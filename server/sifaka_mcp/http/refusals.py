"""Answers in the place of the MCP endpoint: 405 to methods it does not serve, 503 without keys."""

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sifaka_mcp.auth.jwks import PAUSE, IssuerUnavailable

_SESSIONS = frozenset({"GET", "HEAD", "DELETE"})


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
