"""Verdicts that are taken again while the claim, its sources and its age allow."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import recorded
from sifaka.evidence.claims.extraction import normal
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.protocol import Adapter
from sifaka.record.claims import CheckOptions, Claim, ClaimVerdict
from sifaka.retrievers.caches import Cache

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
