"""Verdicts on claims as plain text, complete enough to act on without the structured part.

What claims, sources and their titles say stays on its line, behind a mark of ours, so that it
cannot pretend to be anything that we say.
"""

from collections.abc import Iterator

from sifaka_mcp.schemas.evidence import ClaimOut, CountsOut, EvidenceOut, VerifyOut
from sifaka_mcp.view.lines import flat, section, short
from sifaka_mcp.view.text import usage

_MOST = 100
"""Claims; the structured part has them all."""
_LONGEST = 500
"""Characters of a quote. A passage for the caller to judge by is shown whole."""


def verification(out: VerifyOut) -> str:
    """The text of `verify_evidence`."""
    lines = [f"claims: {len(out.verdicts)} ({counts(out.counts)})"]
    lines += [f"blocking: {'yes' if out.blocking else 'no'}", f"usage: {usage(out.usage)}"]
    for number, verdict in enumerate(out.verdicts[:_MOST], 1):
        lines += ["", *claim_lines(verdict, number)]
    if len(out.verdicts) > _MOST:
        lines.append(f"... and {len(out.verdicts) - _MOST} more")
    lines += ["", out.instructions] if out.instructions else []
    degraded = section("degraded", [f"- {flat(line)}" for line in out.degraded])
    return "\n".join([*lines, "", *degraded] if degraded else lines)


def counts(counted: CountsOut) -> str:
    """The number of claims with each verdict, in one line, without verdicts that none has."""
    told = [f"{n} {name}" for name, n in counted.model_dump().items() if n]
    return ", ".join(told) or "none found"


def claim_lines(verdict: ClaimOut, number: int) -> Iterator[str]:
    """One claim with its verdict and its evidence."""
    yield f"{number}. {verdict.verdict}: {flat(verdict.claim)}"
    if verdict.start is not None:
        quote = short(flat(verdict.quote), 200)
        yield f"   says the text at [{verdict.start}:{verdict.end}]: {quote!r}"
    if verdict.reason:
        yield f"   why: {flat(verdict.reason)}"
    for each in verdict.evidence:
        yield from (f"   {line}" for line in _evidence_lines(each))
    if verdict.reused:
        yield f"   taken from an earlier check at {verdict.checked_at}"


def _evidence_lines(evidence: EvidenceOut) -> Iterator[str]:
    unjudged = evidence.stance == "unjudged"
    quote = flat(evidence.quote)
    stance = evidence.stance.replace("_", " ")
    yield f"- {stance}: {quote if unjudged else short(quote, _LONGEST)!r}"
    yield f"  from {source(evidence)}"


def source(evidence: EvidenceOut) -> str:
    """The source and the date of a piece of evidence, in one line."""
    named = repr(short(flat(evidence.title), 120)) if evidence.title else "a document"
    told = [named, *filter(None, [flat(evidence.url or evidence.id)])]
    told += [f"by {flat(evidence.adapter)}"] if evidence.adapter else []
    told += [f"of {evidence.published}"] if evidence.published else ["without a date"]
    told += [f"retrieved {evidence.retrieved_at}"] if evidence.retrieved_at else []
    return ", ".join(told)
