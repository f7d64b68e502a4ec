"""Verdicts on claims as plain text, complete enough to act on without the structured part.

What claims, sources and their titles say stays on its line, behind a mark of ours, so that it
cannot pretend to be anything that we say.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sifaka.evidence.documents import GIVEN
from sifaka.evidence.model import (
    EvidenceProgress,
    EvidenceResult,
    Searched,
    SearchPlan,
    Verified,
)
from sifaka_mcp.safe_text import section
from sifaka_mcp.schemas.evidence import (
    ClaimOut,
    EvidenceOut,
    EvidenceSearchOut,
    FoundOut,
    VerifyOut,
)
from sifaka_mcp.view.text import usage

_MOST = 100
"""Claims; the structured part has them all."""
_LONGEST = 500
"""Characters of a quote. A passage for the caller to judge by is shown whole."""


def verification(out: VerifyOut) -> str:
    """The text of `verify_evidence`."""
    lines = [f"claims: {len(out.verdicts)} ({counts(out.counts)})"]
    lines += [f"blocking: {'yes' if out.blocking else 'no'}", f"usage: {usage(out.usage)}"]
    lines += [f"run_id: {out.run_id}"] if out.run_id else []
    for number, verdict in enumerate(out.verdicts[:_MOST], 1):
        lines += ["", *claim_lines(verdict, number)]
    if len(out.verdicts) > _MOST:
        lines.append(f"... and {len(out.verdicts) - _MOST} more")
    lines += ["", out.instructions] if out.instructions else []
    degraded = section("degraded", [f"- {line}" for line in out.degraded])
    return "\n".join([*lines, "", *degraded] if degraded else lines)


def found_evidence(out: EvidenceSearchOut) -> str:
    """The text of `search_evidence`."""
    amounts = counts(Counter(each.classification for each in out.evidence), nothing="none")
    lines = [f"question: {out.question}"]
    if out.status is not None:
        lines.append(f"status: {out.status}   documents: {len(out.evidence)} ({amounts})")
    lines.append(f"usage: {usage(out.usage)}")
    lines += section("queries", map(str, out.queries))
    lines += section(
        "criteria", [f"{c.id} ({c.type}, {c.weight:g}): {c.description}" for c in out.criteria]
    )
    for number, each in enumerate(out.evidence[:_MOST], 1):
        lines += ["", *_result_lines(each, number)]
    lines += ["", out.instructions] if out.instructions else []
    notes = section("degraded", [f"- {line}" for line in (*out.degraded, *out.notes)])
    return "\n".join([*lines, "", *notes] if notes else lines)


def _result_lines(result: FoundOut, number: int) -> Iterator[str]:
    yield f"{number}. {result.classification} {result.score:.2f}: {result.explanation}"
    yield from (f"   {each.criterion}: {q}" for each in result.judgements for q in each.quotes)
    if result.passage:
        yield f"   passage: {result.passage:{len(result.passage.raw)}}"
    also = f", also {', '.join(map(str, result.also))}" if result.also else ""
    yield f"   from {_source_line(result)}{also}"


def step_of(progress: EvidenceProgress) -> str:
    """A line about one step of a search for evidence."""
    match progress:
        case SearchPlan():
            return f"planned {len(progress.queries)} queries"
        case Searched():
            return f"found {len(progress.documents)} documents"
        case Verified():
            return f"judged document {progress.number + 1} of {progress.of}"
        case EvidenceResult():
            return "done"


def counts(counted: Mapping[Any, int], nothing: str = "none found") -> str:
    """The number of each kind, in one line, without the kinds that there are none of."""
    return ", ".join(f"{n} {name}" for name, n in counted.items() if n) or nothing


def claim_lines(verdict: ClaimOut, number: int) -> Iterator[str]:
    """One claim with its verdict and its evidence."""
    yield f"{number}. {verdict.verdict}: {verdict.claim}"
    if verdict.start is not None:
        yield f"   says the text at [{verdict.start}:{verdict.end}]: {verdict.quote:200}"
    if verdict.reason:
        yield f"   why: {verdict.reason}"
    yield from (f"   {line}" for each in verdict.evidence for line in _evidence_lines(each))
    if verdict.reused:
        yield f"   taken from an earlier check at {verdict.checked_at}"


def _evidence_lines(evidence: EvidenceOut) -> Iterator[str]:
    unjudged = evidence.stance == "unjudged"
    stance = evidence.stance.replace("_", " ")
    most = len(evidence.quote.raw) if unjudged else _LONGEST
    quote = f"{evidence.quote:{most}}" if evidence.quote else "nothing quoted"
    yield f"- {stance}: {quote}"
    retrieved = f", retrieved {evidence.retrieved_at}" if evidence.retrieved_at else ""
    yield f"  from {_source_line(evidence)}{retrieved}"


def _source_line(source: EvidenceOut | FoundOut) -> str:
    """The title, the place and the date of a document."""
    title = f"{source.title:120}" if source.title else "a document"
    date = f"of {source.published}" if source.published else "without a date"
    return f"{title}, {_location_of(source)}, {date}"


def _location_of(source: EvidenceOut | FoundOut) -> str:
    """The place where a reader finds a document; of one that came with the call its number."""
    if source.adapter.raw == GIVEN:
        number = source.id.raw.removeprefix(f"{GIVEN}-")
        unnamed = f"given as source {number}" if number.isdigit() else "given"
        return f"{source.url or unnamed}"
    return f"{source.url or source.id}" + (f" in {source.adapter}" if source.adapter else "")
