"""Verdicts on claims: made of what documents say, and taken again where nothing has changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import recorded
from sifaka.evidence.claims.extraction import normal
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.model import Assessment
from sifaka.evidence.model import Judgement as Judged
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
        "in_doubt": 2,
        "somewhat_supports": 3,
        "insufficient": 4,
        "off_topic": 5,
        "unjudged": 6,
    }
)
_STANCES: Mapping[Judged, Stance] = MappingProxyType(
    {
        "support": "supports",
        "somewhat_support": "somewhat_supports",
        "reject": "off_topic",
        "insufficient_information": "insufficient",
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
    """Its nearest sentence, for people who judge themselves."""
    failure: str = ""
    """The reason it could not be judged."""
    flag: str = ""
    """What does not agree between a claim and the words quoted in its support."""
    doubt: str = ""
    """The reason its support was not confirmed when it was asked about once more."""

    @property
    def supports(self) -> bool:
        """True when it was judged to say the claim in full."""
        return self.assessment is not None and self.assessment.judgement == "support"


def status_of(stances: Sequence[Stance]) -> ClaimStatus:
    """The verdict that stances amount to; those of off-topic documents do not count.

    Support in part decides nothing, since the rest of the claim stays open. So it makes no claim
    `supported`, and takes nothing from a contradiction. Nor does support that is in doubt.
    """
    supported, contradicted = "supports" in stances, "contradicts" in stances
    if supported and contradicted:
        return "mixed"
    if contradicted:
        return "contradicted"
    if supported:
        return "supported"
    if "in_doubt" in stances:
        return "in_doubt"
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
        stance=_stance(held),
        flag=held.flag,
        quote=(quotes[0] if quotes else held.passage)[:_QUOTE],
        title=document.title,
        url=document.url,
        document_id=document.id,
        adapter=document.adapter,
        published=document.published,
        retrieved_at=document.retrieved_at,
        score=document.score,
    )


def _stance(held: JudgedSource) -> Stance:
    """The stance on a claim that a judgement on its criterion amounts to.

    A rejection is a contradiction only where the document says the contrary: one that speaks about
    something else refutes nothing.
    """
    assessment = held.assessment
    if assessment is None:
        return "unjudged"
    if held.doubt:
        return "in_doubt"
    contradicts = assessment.judgement == "reject" and assessment.contradicts
    return "contradicts" if contradicts else _STANCES[assessment.judgement]


def _reason(
    status: ClaimStatus,
    evidence: Sequence[ClaimEvidence],
    held: Sequence[JudgedSource],
    failure: str,
) -> str:
    if status == "unverified":
        return failure or next((each.failure for each in held if each.failure), "")
    if status == "in_doubt":
        return next(each.doubt for each in held if each.doubt)
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


class _Claims(Frozen):
    """The claims that were found in a text."""

    claims: tuple[Claim, ...]


Kept = TypeVar("Kept", bound=Frozen)


class KnownVerdicts:
    """Verdicts of earlier checks, and the claims that a model has found in texts."""

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
            if verdict.basis:
                await self._keep(_key("claim", verdict.basis, normal(verdict.claim.text)), verdict)

    async def claims_of(self, text: str, model: str) -> tuple[Claim, ...] | None:
        """The claims that a model has found in a text before, put on the record of the run."""
        key = _key("claims", model, text)

        async def look() -> str:
            return (await self._cache.get(key) or b"").decode()

        found = _read(_Claims, await recorded("known claims", {"text": key}, look))
        return found and found.claims

    async def keep_claims(self, text: str, model: str, claims: tuple[Claim, ...]) -> None:
        """Keep the claims that a model has found in a text."""
        await self._keep(_key("claims", model, text), _Claims(claims=claims))

    async def _look(self, claim: Claim, basis: str, oldest: datetime) -> ClaimVerdict | None:
        kept = _read(
            ClaimVerdict, await self._cache.get(_key("claim", basis, normal(claim.text))) or b""
        )
        return kept if kept is not None and kept.checked_at > oldest else None

    async def _keep(self, key: str, value: Frozen) -> None:
        with suppress(PydanticSerializationError):  # half a surrogate pair: it is asked again
            told = value.model_dump_json().encode()
            await self._cache.set(key, told, ttl=_LONGEST_KEPT)


def _read(form: type[Kept], told: str | bytes) -> Kept | None:
    with suppress(ValidationError):  # nothing, or of another version of this program
        return form.model_validate_json(told)


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
        "checks": options.checks,
    }
    return sha256(json.dumps(told, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _key(kind: str, *parts: str) -> str:
    told = "\n".join(parts).encode("utf-8", "surrogatepass")
    return f"{kind}:{sha256(told).hexdigest()}"
