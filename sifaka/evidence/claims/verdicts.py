"""Verdicts on claims: made of what documents say, and taken again where nothing has changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import recorded
from sifaka.evidence.claims.extraction import Extracted, normal
from sifaka.evidence.documents import SearchFilters, SourceDocument
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

_DECISIVE_FIRST: Sequence[Stance] = (
    "contradicts",
    "supports",
    "in_doubt",
    "somewhat_supports",
    "insufficient",
    "off_topic",
    "unjudged",
)
_STATUS: Mapping[Stance, ClaimStatus] = {
    "contradicts": "contradicted",
    "supports": "supported",
    "in_doubt": "in_doubt",
    "unjudged": "unverified",
}
"""The verdict by the first of these stances that is there."""
_QUOTE = 1_000
"""Characters of a quote."""


class JudgedSource(NamedTuple):
    """A document that a claim was checked against."""

    document: SourceDocument
    stance: Stance
    """`off_topic` where it speaks about something else, which refutes nothing."""
    quotes: tuple[str, ...] = ()
    """The sentences that decide; of one that is not judged the nearest, for people to judge by."""
    reason: str = ""
    """The reason why it was not judged, is in doubt, or its quote does not count."""
    flag: str = ""
    """What does not agree between a claim and the words quoted in its support."""


def status_of(stances: Sequence[Stance]) -> ClaimStatus:
    """The verdict that stances amount to; those of off-topic documents do not count.

    Support in part decides nothing, since the rest of the claim stays open. So it makes no claim
    `supported`, and takes nothing from a contradiction. Nor does support that is in doubt.
    """
    if {"supports", "contradicts"} <= set(stances):
        return "mixed"
    for stance, status in _STATUS.items():
        if stance in stances:
            return status
    return "not_enough_info"


def verdict_of(
    claim: Claim, held: Sequence[JudgedSource], *, at: datetime, failure: str = "", basis: str = ""
) -> ClaimVerdict:
    """The verdict on one claim.

    Args:
        claim: The claim.
        held: The documents that it was checked against, best first.
        at: When.
        failure: Why nothing more could be found, when the search has failed altogether.
        basis: What the verdict may be taken again on.
    """
    status = status_of([each.stance for each in held])
    if status == "not_enough_info" and failure:
        status = "unverified"
    return ClaimVerdict(
        claim=claim,
        verdict=status,
        evidence=tuple(
            ClaimEvidence(
                stance=each.stance,
                flag=each.flag,
                quote="".join(each.quotes[:1])[:_QUOTE],
                title=each.document.title,
                url=each.document.url,
                document_id=each.document.id,
                adapter=each.document.adapter,
                published=each.document.published,
                retrieved_at=each.document.retrieved_at,
                score=each.document.score,
            )
            # What is equally decisive keeps its order.
            for each in sorted(held, key=lambda each: _DECISIVE_FIRST.index(each.stance))
        ),
        reason=_explain_status(status, held, failure),
        checked_at=at,
        basis=basis,
    )


def _explain_status(status: ClaimStatus, held: Sequence[JudgedSource], failure: str) -> str:
    if status == "unverified":
        return failure or next((each.reason for each in held if each.stance == "unjudged"), "")
    if status == "in_doubt":
        return next(each.reason for each in held if each.stance == "in_doubt")
    if status != "not_enough_info":
        return ""
    if not held:
        return "nothing was found about it"
    if any(each.stance == "somewhat_supports" for each in held):
        return "the documents support it in part only"
    several = f"{len(held)} documents were" if len(held) > 1 else "one document was"
    reasons = (each.reason for each in held if each.reason)
    return next(reasons, f"{several} judged, and none says whether it is so")


_LONGEST_KEPT = 7 * 86_400.0
"""Seconds for which a verdict is kept; each check says how old one may be."""


_RECORD = TypeAdapter(tuple[ClaimVerdict | None, ...])
"""The verdicts that a run records, so that a resumed run has the same."""
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
        request = {
            "claims": [normal(claim.text) for claim in claims.values()],
            "bases": [bases[n] for n in claims],
        }

        async def look() -> str:
            keys = [_key("claim", bases[n], normal(claim.text)) for n, claim in claims.items()]
            kept = [_parse_kept(ClaimVerdict, await self._cache.get(key) or b"") for key in keys]
            fresh = (each if each and each.checked_at > oldest else None for each in kept)
            return _RECORD.dump_json(tuple(fresh)).decode()

        record = _RECORD.validate_json(await recorded("known verdicts", request, look))
        return {
            number: verdict.model_copy(update={"claim": claim, "reused": True})
            for (number, claim), verdict in zip(claims.items(), record, strict=True)
            if verdict is not None
        }

    async def keep(self, verdicts: Iterable[ClaimVerdict]) -> None:
        """Keep those that may be taken again: the ones with a basis."""
        for verdict in verdicts:
            if verdict.basis:
                await self._keep(_key("claim", verdict.basis, normal(verdict.claim.text)), verdict)

    async def claims_of(self, text: str, model: str) -> Extracted | None:
        """The claims that a model has found in a text before, put on the record of the run."""
        key = _key("claims", model, text)

        async def look() -> str:
            return (await self._cache.get(key) or b"").decode()

        return _parse_kept(Extracted, await recorded("known claims", {"text": key}, look))

    async def keep_claims(self, text: str, model: str, claims: tuple[Claim, ...]) -> None:
        """Keep the claims that a model has found in a text."""
        await self._keep(_key("claims", model, text), Extracted(claims=claims))

    async def _keep(self, key: str, value: Frozen) -> None:
        with suppress(PydanticSerializationError):  # half a surrogate pair: it is asked again
            await self._cache.set(key, value.model_dump_json().encode(), ttl=_LONGEST_KEPT)


def _parse_kept(form: type[Kept], data: str | bytes) -> Kept | None:
    with suppress(ValidationError):  # nothing, or of another version of this program
        return form.model_validate_json(data)


def basis_of(
    adapters: Sequence[Adapter],
    filters: SearchFilters,
    given: Sequence[SourceDocument],
    model: str,
    options: CheckOptions,
) -> str:
    """A digest of all that a verdict depends on besides the claim and the time."""
    parts = {
        "adapters": [(adapter.name, adapter.place) for adapter in adapters],
        "filters": filters.model_dump(mode="json"),
        # A judge is shown when a document was published, and may quote that.
        "given": sorted(f"{document.key} {document.published}" for document in given),
        "model": model,
        "documents": options.max_documents,
        "checks": options.checks,
    }
    return sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _key(kind: str, *parts: str) -> str:
    data = "\n".join(parts).encode("utf-8", "surrogatepass")
    return f"{kind}:{sha256(data).hexdigest()}"
