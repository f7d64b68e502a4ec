"""`/v1/search`, `/v1/plan` and `/v1/health`: evidence over plain HTTP, as OpenSift has it.

Requests and answers have the fields of https://github.com/AtomInnoLab/OpenSift, and some more.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TypeVar

import anyio
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sifaka._internal.explain import explain
from sifaka.errors import ConfigurationError, SifakaError
from sifaka.tasks.evidence import plan_search, search_evidence
from sifaka_mcp.auth.scopes import share_of_request
from sifaka_mcp.schemas.opensift import (
    SearchBody,
    criteria_of,
    milliseconds_since,
    request_id,
    response,
)
from sifaka_mcp.state import AppState

Body = TypeVar("Body", bound=BaseModel)
_Answer = Callable[[Request, AppState], Awaitable[Response]]
_LOOKING = 30.0
"""Seconds that all adapters together have to say how they are."""


def evidence_routes(state: Callable[[], AppState], admitting: Sequence[Middleware]) -> list[Route]:
    """The routes of the paths.

    Args:
        state: What the server works with, which is open by then.
        admitting: What lets requests in.
    """
    return [
        Route(path, partial(_answered, state, answer), methods=[method], middleware=admitting)
        for method, path, answer in (
            ("POST", "/v1/search", _search),
            ("POST", "/v1/plan", _plan),
            ("GET", "/v1/health", _health),
            ("GET", "/v1/health/adapters", _adapters),
        )
    ]


async def _answered(opened: Callable[[], AppState], answer: _Answer, request: Request) -> Response:
    state = opened()
    try:
        with share_of_request(state):
            return await answer(request, state.of_request())
    except HTTPException as refused:
        return JSONResponse({"detail": refused.detail}, status_code=refused.status_code)
    except ConfigurationError as error:
        return JSONResponse({"detail": str(error)}, status_code=422)
    except TimeoutError:
        return JSONResponse({"detail": "timeout_seconds are over"}, status_code=504)
    except SifakaError as error:
        return JSONResponse({"detail": str(error)}, status_code=502)


async def _search(request: Request, state: AppState) -> Response:
    asked = await _body(request, SearchBody)
    began = time.monotonic()
    with anyio.fail_after(asked.options.timeout_seconds):
        chain = await state.chain(critics=())
        result = await search_evidence(chain, asked.query, options=asked.options.for_library())
    return JSONResponse(response(result, asked.options, began, asked.context))


async def _plan(request: Request, state: AppState) -> Response:
    asked = await _body(request, SearchBody)
    began = time.monotonic()
    with anyio.fail_after(asked.options.timeout_seconds):
        plan = await plan_search(await state.chain(critics=()), asked.query)
    return JSONResponse(
        {
            "request_id": request_id(),
            "query": plan.question,
            "criteria_result": criteria_of(plan),
            "processing_time_ms": milliseconds_since(began),
            "degraded": [] if plan.degraded is None else [plan.degraded],
        }
    )


async def _health(_: Request, state: AppState) -> Response:
    names = state.adapters.names
    return JSONResponse(
        {
            "status": "healthy",
            "version": version("sifaka-mcp"),
            "service": "sifaka",
            "default_adapter": names[0] if names else "",
            "active_adapters": list(names),
        }
    )


async def _adapters(_: Request, state: AppState) -> Response:
    began = time.monotonic()
    with anyio.fail_after(_LOOKING):
        found = await state.adapters.health()
    # What is wrong may name a folder or an address: that is for the command on the server.
    health = {
        name: {
            "status": "healthy" if each.works else "unhealthy",
            "latency_ms": milliseconds_since(began),
            "last_check": datetime.now(UTC).isoformat(),
            "error_rate": float(not each.works),
            "message": None if each.works else "`sifaka doctor` on the server says why",
        }
        for name, each in found.items()
    }
    return JSONResponse({"adapters": health})


async def _body(request: Request, form: type[Body]) -> Body:
    """The body of a request.

    Raises:
        HTTPException: It is no JSON in this form.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send application/json")
    try:
        return form.model_validate_json(await request.body())
    except ValidationError as error:
        raise HTTPException(422, explain(error)) from error
