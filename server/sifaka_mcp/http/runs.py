"""`/runs` and `/runs/{id}`: runs as pages for a browser, and the data of these pages.

A browser that opens an address sends no token. Where one is needed the page comes with status 401
and asks for it; every request for data then carries it, as any other client's does.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sifaka.errors import ConfigurationError, SifakaError, ThoughtNotFound
from sifaka_mcp.auth.access import Access
from sifaka_mcp.state import AppState

RUNS = "/runs"
TOOL = "get_thought_history"
"""The tool that gives the same data: a server that does not offer it has no such pages."""
_PAGE = 20
"""Runs, or versions that match, in one answer."""
_HEADERS = {
    "cache-control": "no-store",
    "vary": "accept, authorization",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_STATUS = {ThoughtNotFound: 404, ConfigurationError: 400}
"""Of errors; any other one is of a server that cannot answer now."""
_Answer = Callable[[Request, AppState], Awaitable[Response]]


def page_routes(state: Callable[[], AppState], access: Access | None) -> list[Route]:
    """The routes of the pages of the runs that a token may see; the root leads to them.

    Args:
        state: What the server works with, which is open by then.
        access: Identifies callers; None when no token is needed.
    """

    def for_allowed(path: str, answer: _Answer) -> Route:
        async def respond(request: Request) -> Response:
            status, reason = _check_access(request, access)
            if "text/html" in request.headers.get("accept", ""):
                response = _serve_page(status)
            elif reason:
                response = JSONResponse({"error": reason}, status_code=status)
            else:
                response = await _respond(request, answer, state())
            if reason:
                response.headers["www-authenticate"] = f'Bearer error="{reason}"'
            response.headers.update(_HEADERS)
            return response

        return Route(path, respond)

    return [
        Route("/", RedirectResponse(RUNS[1:], status_code=307), methods=["GET"]),
        for_allowed(RUNS, _list_runs),
        for_allowed(f"{RUNS}/{{run_id}}", _show_run),
        for_allowed(f"{RUNS}/{{run_id}}/versions/{{place:int}}", _show_version),
    ]


def _check_access(request: Request, access: Access | None) -> tuple[int, str]:
    """401 or 403 and the reason, or 200."""
    user: Any = request.scope.get("user")
    if access and not isinstance(user, AuthenticatedUser):
        return 401, "invalid_token"
    if access and not set(access.settings.required_scopes or ()) <= set(user.scopes):
        return 403, "insufficient_scope"
    return 200, ""


async def _respond(request: Request, answer: _Answer, state: AppState) -> Response:
    try:
        return await answer(request, state.of_request())
    except IndexError:
        return JSONResponse({"error": "no such version"}, status_code=404)
    except SifakaError as error:
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 503)
        return JSONResponse({"error": str(error)}, status_code=status)


def _serve_page(status: int) -> Response:
    """The page without data, under the policy that only its own script and style run."""
    from sifaka_mcp.ui.pages import page

    policy = f"{page('web').policy}; frame-ancestors 'none'"
    headers = {"content-security-policy": policy, "x-frame-options": "DENY"}
    return HTMLResponse(page("web").html, status_code=status, headers=headers)


async def _list_runs(request: Request, state: AppState) -> Response:
    from sifaka.tasks import look_up
    from sifaka_mcp.schemas.history import HistoryOut

    params = request.query_params
    matches = await look_up(
        state.store,
        embeds=state.settings.embedding_model is not None,
        query=params.get("query", ""),
        limit=_PAGE,
        cursor=params.get("cursor", ""),
    )
    return _to_json(HistoryOut.of(matches, include_text=False))


async def _show_run(request: Request, state: AppState) -> Response:
    """The overview of a run; 204 when it has as many entries as the caller knows."""
    from sifaka_mcp.ui.page_data import overview_of

    run = await state.load(request.path_params["run_id"])
    if request.query_params.get("after") == str(run.version):
        return Response(status_code=204)
    return _to_json(await anyio.to_thread.run_sync(overview_of, run))


async def _show_version(request: Request, state: AppState) -> Response:
    from sifaka_mcp.ui.page_data import version_of

    run = await state.store.load(request.path_params["run_id"])
    return _to_json(await anyio.to_thread.run_sync(version_of, run, request.path_params["place"]))


def _to_json(data: object) -> Response:
    return Response(to_json(data), media_type="application/json")
