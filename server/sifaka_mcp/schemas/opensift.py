"""The bodies of OpenSift's HTTP interface, with some fields more.

https://github.com/AtomInnoLab/OpenSift
"""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.model import (
    Evidence,
    EvidenceResult,
    SearchPlan,
    explained,
)
from sifaka.tasks.evidence import EvidenceOptions

_LONGEST = 2_000
"""Characters of a question."""
_RECENT = re.compile(r"(\d{1,4})([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_NOT_USED = "`context` is not used"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Options(_Strict):
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
        if self.recency_filter is not None and (told := _RECENT.fullmatch(self.recency_filter)):
            since = datetime.now(UTC) - timedelta(days=int(told[1]) * _DAYS[told[2]])
        return EvidenceOptions(
            adapters=tuple(self.adapters or ()),
            filters=SearchFilters(since=since),
            max_results=self.max_results,
            decompose=self.decompose,
            verify=self.verify,
        )


class SearchBody(_Strict):
    """The body of a search or a plan."""

    query: str = Field(min_length=1, max_length=_LONGEST)
    options: Options = Options()
    context: dict[str, Any] = {}


_CLASSES = ("perfect", "partial", "rejected", "unverified")


def response(
    result: EvidenceResult, options: Options, began: float, context: object
) -> dict[str, Any]:
    """The answer to a search.

    Args:
        result: What was found.
        options: Those of the request.
        began: The time of the request, by `time.monotonic`.
        context: That of the request, which has no effect.
    """
    classes: dict[str, list[object]] = {name: [] for name in _CLASSES}
    raw: list[object] = []
    for each in result.evidence:
        told = _judged(each, result.plan, options.classify)
        if options.classify:
            name = "rejected" if each.classification == "reject" else each.classification
            classes[name].append(told)
        else:
            raw.append(told)
    return {
        "request_id": request_id(),
        "status": "completed" if result.status == "found" else result.status,
        "processing_time_ms": milliseconds_since(began),
        "query": result.question,
        "criteria_result": criteria_of(result.plan),
        **{f"{name}_results": found for name, found in classes.items()},
        "rejected_count": len(classes["rejected"]),
        "raw_results": raw,
        "total_scanned": len(result.evidence),
        "degraded": list(result.degraded),
        "notes": [*result.notes, *([_NOT_USED] if context else [])],
    }


def _judged(evidence: Evidence, plan: SearchPlan, classify: bool) -> dict[str, Any]:
    scored = {"classification": evidence.classification, "weighted_score": evidence.score}
    return {
        "result": _item(evidence.document),
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
        **(scored if classify else {}),
    }


def _item(document: SourceDocument) -> dict[str, Any]:
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


def criteria_of(plan: SearchPlan) -> dict[str, Any]:
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


def request_id() -> str:
    """A new name for a request."""
    return f"req_{uuid4().hex[:12]}"


def milliseconds_since(began: float) -> int:
    """Milliseconds since a time by `time.monotonic`."""
    return int((time.monotonic() - began) * 1000)
