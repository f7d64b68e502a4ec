"""The answer to a client while the authorization server's keys cannot be fetched."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sifaka_mcp.auth.jwks import PAUSE, IssuerUnavailable


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
