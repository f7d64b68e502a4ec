"""`/v1/search`, `/v1/plan` and `/v1/health`: evidence over plain HTTP, as OpenSift has it.

Requests and answers have the fields of https://github.com/AtomInnoLab/OpenSift, and some more.
"""

import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from typing import Any, Literal
from uuid import uuid4

import anyio
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sifaka._internal.explain import explain
from sifaka.errors import ConfigurationError, SifakaError
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.model import (
    Evidence,
    EvidenceResult,
    SearchPlan,
    explained,
)
from sifaka.tasks.evidence import EvidenceOptions, plan_search, search_evidence
from sifaka_mcp.auth.scopes import share_of_request
from sifaka_mcp.state import AppState

_Answer = Callable[[Request, AppState], Awaitable[Response]]
_LOOKING = 30.0
"""Seconds that all adapters together have to say how they are."""
_LONGEST = 2_000
"""Characters of a question."""
_RECENT = re.compile(r"(\d{1,4})([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_NOT_USED = "`context` is not used"


def evidence_routes(state: Callable[[], AppState], admitting: Sequence[Middleware]) -> list[Route]:
    """The routes of the paths.

    Args:
        state: What the server works with, which is open by then.
        admitting: What lets requests in.
    """
    return [
        Route(path, partial(_respond, state, answer), methods=[method], middleware=admitting)
        for method, path, answer in (
            ("POST", "/v1/search", _search),
            ("POST", "/v1/plan", _plan),
            ("GET", "/v1/health", _health),
            ("GET", "/v1/health/adapters", _adapters),
        )
    ]


async def _respond(state_of: Callable[[], AppState], answer: _Answer, request: Request) -> Response:
    state = state_of()
    try:
        with share_of_request(state):
            return await answer(request, state.of_request())
    except HTTPException as refused:
        return JSONResponse({"detail": refused.detail}, status_code=refused.status_code)
    except TimeoutError:
        return JSONResponse({"detail": "timeout_seconds are over"}, status_code=504)
    except SifakaError as error:
        status = 422 if isinstance(error, ConfigurationError) else 502
        return JSONResponse({"detail": str(error)}, status_code=status)


async def _search(request: Request, state: AppState) -> Response:
    body = await _parse_body(request)
    began = time.monotonic()
    with anyio.fail_after(body.options.timeout_seconds):
        chain = await state.chain(critics=())
        result = await search_evidence(chain, body.query, options=body.options.for_library())
    return JSONResponse(_describe_result(result, body.options, began, body.context))


async def _plan(request: Request, state: AppState) -> Response:
    body = await _parse_body(request)
    began = time.monotonic()
    with anyio.fail_after(body.options.timeout_seconds):
        plan = await plan_search(await state.chain(critics=()), body.query)
    return JSONResponse(
        {
            "request_id": f"req_{uuid4().hex[:12]}",
            "query": plan.question,
            "criteria_result": _describe_plan(plan),
            "processing_time_ms": _milliseconds_since(began),
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
        health = await state.adapters.health()
    # What is wrong may name a folder or an address: that is for the command on the server.
    return JSONResponse(
        {
            "adapters": {
                name: {
                    "status": "healthy" if each.works else "unhealthy",
                    "latency_ms": _milliseconds_since(began),
                    "last_check": datetime.now(UTC).isoformat(),
                    "error_rate": float(not each.works),
                    "message": None if each.works else "`sifaka doctor` on the server says why",
                }
                for name, each in health.items()
            }
        }
    )


async def _parse_body(request: Request) -> "SearchBody":
    """The body of a request.

    Raises:
        HTTPException: It is no JSON in this form.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send application/json")
    try:
        return SearchBody.model_validate_json(await request.body())
    except ValidationError as error:
        raise HTTPException(422, explain(error)) from error


class Options(BaseModel, extra="forbid"):
    """The steps and limits of a search."""

    decompose: bool = True
    verify: bool = True
    classify: bool = True
    stream: Literal[False] = False
    """Clients of OpenSift send it; an answer is sent whole."""
    max_results: int = Field(default=10, ge=1, le=100)
    recency_filter: str | None = Field(default=None, pattern=f"^{_RECENT.pattern}$")
    adapters: list[str] | None = Field(default=None, max_length=50)
    timeout_seconds: float = Field(default=30.0, gt=0, le=600)

    def for_library(self) -> EvidenceOptions:
        """The options of the library."""
        since = None
        if self.recency_filter is not None and (match := _RECENT.fullmatch(self.recency_filter)):
            since = datetime.now(UTC) - timedelta(days=int(match[1]) * _DAYS[match[2]])
        return EvidenceOptions(
            adapters=tuple(self.adapters or ()),
            filters=SearchFilters(since=since),
            max_results=self.max_results,
            decompose=self.decompose,
            verify=self.verify,
        )


class SearchBody(BaseModel, extra="forbid"):
    """The body of a search or a plan."""

    query: str = Field(min_length=1, max_length=_LONGEST)
    options: Options = Options()
    context: dict[str, Any] = {}


def _describe_result(
    result: EvidenceResult, options: Options, began: float, context: object
) -> dict[str, Any]:
    """The answer to a search.

    Args:
        result: What was found.
        options: Those of the request.
        began: The time of the request, by `time.monotonic`.
        context: That of the request, which has no effect.
    """
    by_class: defaultdict[str, list[object]] = defaultdict(list)
    for each in result.evidence:
        item = _describe_evidence(each, result.plan, options.classify)
        by_class[each.classification if options.classify else "raw"].append(item)
    return {
        "request_id": f"req_{uuid4().hex[:12]}",
        "status": "completed" if result.status == "found" else result.status,
        "processing_time_ms": _milliseconds_since(began),
        "query": result.question,
        "criteria_result": _describe_plan(result.plan),
        "perfect_results": by_class["perfect"],
        "partial_results": by_class["partial"],
        "rejected_results": by_class["reject"],
        "unverified_results": by_class["unverified"],
        "rejected_count": len(by_class["reject"]),
        "raw_results": by_class["raw"],
        "total_scanned": len(result.evidence),
        "degraded": list(result.degraded),
        "notes": [*result.notes, *([_NOT_USED] if context else [])],
    }


def _describe_evidence(evidence: Evidence, plan: SearchPlan, classify: bool) -> dict[str, Any]:
    return {
        "result": _describe_document(evidence.document),
        "validation": {
            "criteria_assessment": [
                {
                    "criterion_id": each.criterion,
                    "assessment": each.judgement,
                    "explanation": ", ".join(each.flags),
                    "evidence": [{"source": "content", "text": quote} for quote in each.quotes],
                }
                for each in evidence.assessments
            ],
            "summary": explained(evidence, plan.criteria),
        },
        **({"classification": evidence.classification} if classify else {}),
        **({"weighted_score": evidence.score} if classify else {}),
    }


def _describe_document(document: SourceDocument) -> dict[str, Any]:
    return {
        "source_adapter": document.adapter,
        "result_type": "generic",
        "title": document.title,
        "content": document.text,
        "source_url": document.url,
        "fields": {
            "id": document.id,
            "doi": document.doi,
            "published": document.published.isoformat() if document.published else None,
            "also": list(document.also),
        },
    }


def _describe_plan(plan: SearchPlan) -> dict[str, Any]:
    """The queries and criteria of a plan."""
    return {
        "search_queries": list(plan.queries),
        "criteria": [
            {
                "criterion_id": each.id,
                "type": each.type,
                "name": each.name,
                "description": each.description,
                "weight": each.weight,
            }
            for each in plan.criteria
        ],
    }


def _milliseconds_since(began: float) -> int:
    """Milliseconds since a time by `time.monotonic`."""
    return int((time.monotonic() - began) * 1000)
