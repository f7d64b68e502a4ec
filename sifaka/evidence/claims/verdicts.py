"""Verdicts on claims: made of what documents say, and taken again where nothing has changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import recorded
from sifaka.evidence.claims.extraction import normal
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.model import Assessment
from sifaka.evidence.sources.collection import Adapter
from sifaka.record.claims import (
    CheckOptions,
    Claim,
    ClaimEvidence,
    ClaimStatus,
    ClaimVerdict,
    Stance,
)
from sifaka.retrievers.cached import Cache

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


_LONGEST_KEPT = 7 * 86_400.0
"""Seconds for which a verdict is kept; each check says how old one may be."""


class _Record(Frozen):
    """The verdicts that a run records, so that a resumed run has the same."""

    verdicts: tuple[ClaimVerdict | None, ...]


class KnownVerdicts:
    """Verdicts of earlier checks."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def take(
        self, claims: Mapping[int, Claim], bases: Mapping[int, str], *, oldest: datetime
    ) -> dict[int, ClaimVerdict]:
        """The verdicts that may be taken again, by number, put on the record of the run.

        Args:
            claims: The claims to be checked, by number.
            bases: For each all that a verdict on it depends on.
            oldest: Verdicts of this moment and before count no longer.
        """
        asked = {
            "claims": [normal(claim.text) for claim in claims.values()],
            "bases": [bases[n] for n in claims],
        }

        async def look() -> str:
            found = [await self._look(claim, bases[n], oldest) for n, claim in claims.items()]
            return _Record(verdicts=tuple(found)).model_dump_json()

        record = _Record.model_validate_json(await recorded("known verdicts", asked, look))
        return {
            number: verdict.model_copy(update={"claim": claim, "reused": True})
            for (number, claim), verdict in zip(claims.items(), record.verdicts, strict=True)
            if verdict is not None
        }

    async def keep(self, verdicts: Iterable[ClaimVerdict]) -> None:
        """Keep those that may be taken again: the ones with a basis."""
        for verdict in verdicts:
            if not verdict.basis:
                continue
            try:
                value = verdict.model_dump_json().encode()
            except PydanticSerializationError:  # half a surrogate pair: it is judged again
                continue
            await self._cache.set(_key(verdict.claim, verdict.basis), value, ttl=_LONGEST_KEPT)

    async def _look(self, claim: Claim, basis: str, oldest: datetime) -> ClaimVerdict | None:
        value = await self._cache.get(_key(claim, basis))
        try:
            kept = None if value is None else ClaimVerdict.model_validate_json(value)
        except ValidationError:  # of another version of this program
            return None
        return kept if kept is not None and kept.checked_at > oldest else None


def basis_of(
    adapters: Sequence[Adapter],
    filters: SearchFilters,
    given: Sequence[SourceDocument],
    model: str,
    options: CheckOptions,
) -> str:
    """A digest of all that a verdict depends on besides the claim and the time."""
    told = {
        "adapters": [(adapter.name, adapter.place) for adapter in adapters],
        "filters": filters.model_dump(mode="json"),
        # A judge is told when a document was published, and may quote that.
        "given": sorted(f"{document.key} {document.published}" for document in given),
        "model": model,
        "documents": options.max_documents,
    }
    return sha256(json.dumps(told, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _key(claim: Claim, basis: str) -> str:
    told = f"{basis}\n{normal(claim.text)}".encode("utf-8", "surrogatepass")
    return f"claim:{sha256(told).hexdigest()}"
