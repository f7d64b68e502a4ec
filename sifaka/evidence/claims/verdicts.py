"""From what documents say about a claim to the verdict on it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Assessment
from sifaka.record.claims import Claim, ClaimEvidence, ClaimStatus, ClaimVerdict, Stance

_DECISIVE_FIRST: Mapping[Stance, int] = MappingProxyType(
    {
        "contradicts": 0,
        "supports": 1,
        "somewhat_supports": 2,
        "insufficient": 3,
        "off_topic": 4,
        "unjudged": 5,
    }
)
_QUOTE = 1_000
"""Characters of a quote."""


class JudgedSource(NamedTuple):
    """A document that a claim was held against."""

    document: SourceDocument
    assessment: Assessment | None
    """Its judgement on the claim; None when it could not be judged."""
    passage: str = ""
    """Its nearest passage, for people who judge themselves."""
    failure: str = ""
    """The reason it could not be judged."""
    doubt: str = ""
    """The reason a judgement on it does not stand: what was quoted does not bear it out."""


def stance_of(assessment: Assessment) -> Stance:
    """The stance on a claim that a judgement on its criterion amounts to.

    A rejection is a contradiction only where the document says the contrary: one that speaks about
    something else refutes nothing.
    """
    match assessment.judgement:
        case "support":
            return "supports"
        case "somewhat_support":
            return "somewhat_supports"
        case "reject":
            return "contradicts" if assessment.contradicts else "off_topic"
        case "insufficient_information":
            return "insufficient"


def status_of(stances: Sequence[Stance]) -> ClaimStatus:
    """The verdict that stances amount to; those of off-topic documents do not count.

    Support in part decides nothing, since the rest of the claim stays open. So it makes no claim
    `supported`, and takes nothing from a contradiction.
    """
    supported, contradicted = "supports" in stances, "contradicts" in stances
    if supported and contradicted:
        return "mixed"
    if contradicted:
        return "contradicted"
    if supported:
        return "supported"
    return "unverified" if "unjudged" in stances else "not_enough_info"


def verdict_of(
    claim: Claim, held: Sequence[JudgedSource], *, at: datetime, failure: str = "", basis: str = ""
) -> ClaimVerdict:
    """The verdict on one claim.

    Args:
        claim: The claim.
        held: The documents that it was held against, best first.
        at: When.
        failure: Why nothing more could be found, when the search has failed altogether.
        basis: What the verdict may be taken again on.
    """
    evidence = [_evidence(each) for each in held]
    status = status_of([each.stance for each in evidence])
    if status == "not_enough_info" and failure:
        status = "unverified"
    return ClaimVerdict(
        claim=claim,
        verdict=status,
        # What is equally decisive keeps its order.
        evidence=tuple(sorted(evidence, key=lambda each: _DECISIVE_FIRST[each.stance])),
        reason=_reason(status, evidence, held, failure),
        checked_at=at,
        basis=basis,
    )


def _evidence(held: JudgedSource) -> ClaimEvidence:
    document, assessment = held.document, held.assessment
    quotes = () if assessment is None else assessment.quotes
    return ClaimEvidence(
        stance="unjudged" if assessment is None else stance_of(assessment),
        quote=(quotes[0] if quotes else held.passage)[:_QUOTE],
        title=document.title,
        url=document.url,
        document_id=document.id,
        adapter=document.adapter,
        published=document.published,
        retrieved_at=document.retrieved_at,
        score=document.score,
    )


def _reason(
    status: ClaimStatus,
    evidence: Sequence[ClaimEvidence],
    held: Sequence[JudgedSource],
    failure: str,
) -> str:
    if status == "unverified":
        doubts = (f"the judgement is in doubt: {each.doubt}" for each in held if each.doubt)
        failures = (each.failure for each in held if each.failure)
        return failure or next(doubts, "") or next(failures, "")
    if status != "not_enough_info":
        return ""
    if not evidence:
        return "nothing was found about it"
    if any(each.stance == "somewhat_supports" for each in evidence):
        return "the documents support it in part only"
    if any(each.assessment and "quote_not_found" in each.assessment.flags for each in held):
        return "what was quoted for it is not in the document"
    several = f"{len(evidence)} documents were" if len(evidence) > 1 else "one document was"
    return f"{several} judged, and none says whether it is so"
