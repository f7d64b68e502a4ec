"""The documents that a claim is held against: those that are at hand and those that are found."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.evidence.documents import GIVEN, SearchFilters, SourceDocument, moment
from sifaka.evidence.model import Searched
from sifaka.evidence.ranking import groups, rank_documents
from sifaka.evidence.search import search
from sifaka.evidence.sources.collection import Adapter
from sifaka.record.claims import Claim
from sifaka.record.thought import Document

_AT_A_TIME = 4
"""Claims that are searched for at the same time: sources are other people's machines."""


def at_hand(documents: Iterable[Document], at: datetime) -> tuple[SourceDocument, ...]:
    """Documents that came with a text, each once, whatever its addresses; none without words.

    One that was found somewhere before says where and when; another counts as retrieved `at`.
    """
    made = [_source(document, at) for document in documents if document.text.strip()]
    return tuple(made[places[0]] for places in sorted(map(sorted, groups(made))))


async def of_claims(
    claims: Mapping[int, Claim], documents: Sequence[SourceDocument], most: int
) -> dict[int, tuple[SourceDocument, ...]]:
    """For each claim those of the documents at hand that match it best, at most `most`."""
    if len(documents) <= most:
        return dict.fromkeys(claims, tuple(documents))

    def ranked() -> dict[int, tuple[SourceDocument, ...]]:
        return {
            n: tuple(d for d in rank_documents(claim.text, documents)[:most] if d.score)
            for n, claim in claims.items()
        }

    return await to_thread.run_sync(ranked)


async def find(
    claims: Mapping[int, Claim],
    given: Mapping[int, Sequence[SourceDocument]],
    adapters: Sequence[Adapter],
    *,
    most: int,
    filters: SearchFilters,
) -> dict[int, Searched]:
    """Find at most `most` documents for each claim, by its number, behind those at hand.

    Every claim is a search and a place of its own. Without an adapter those at hand are all.
    """
    if not adapters:
        return {n: Searched(status="found", documents=tuple(given[n])) for n in claims}
    look_up = partial(search, adapters, max_results=most, filters=filters)
    branches = {f"search {n}": partial(look_up, [claim.text]) for n, claim in claims.items()}
    results = await fan_out(branches, calls_each=0, parallel=_AT_A_TIME)
    found: dict[int, Searched] = {}
    for n, result in zip(claims, results, strict=True):
        documents = {document.key: document for document in (*given[n], *result.documents)}
        found[n] = result.model_copy(update={"documents": tuple(documents.values())})
    return found


def _source(document: Document, at: datetime) -> SourceDocument:
    told = document.metadata
    source = SourceDocument.of(document, adapter=str(told.get("adapter") or GIVEN))
    return source.model_copy(update={"retrieved_at": moment(told.get("retrieved_at")) or at})
