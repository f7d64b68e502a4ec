"""The checker: claims, documents for each, what those say, and the verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from sifaka.calls.component import Component
from sifaka.calls.context import current_calls, fan_out, recorded, scope
from sifaka.errors import ConfigurationError
from sifaka.evidence.claims.comparison import by_caller, judge_claims, unjudged
from sifaka.evidence.claims.extraction import (
    NEEDS_EVIDENCE,
    Extracted,
    claims_given,
    extract,
    normal,
)
from sifaka.evidence.claims.verdicts import JudgedSource, KnownVerdicts, basis_of, verdict_of
from sifaka.evidence.documents import GIVEN, SearchFilters, SourceDocument, moment
from sifaka.evidence.model import Searched
from sifaka.evidence.search import filters_of, groups, rank_documents, search
from sifaka.evidence.sources.collection import Adapter, Adapters
from sifaka.evidence.verify import NO_MODEL
from sifaka.record.claims import CheckOptions, Claim, ClaimReport, ClaimVerdict, Judgement
from sifaka.record.thought import Document
from sifaka.record.usage import Budget
from sifaka.retrievers.cached import MemoryCache

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_LONGEST_AGE = 10 * 365 * 86_400.0
"""Seconds; a greater age means any."""


_now = partial(datetime.now, UTC)


class EvidenceChecker(Component):
    """Holds claims against what adapters find and against documents at hand; see `ClaimChecker`.

    One model call extracts the claims of a text. Each claim is searched for by itself, and each
    document is judged against the claims that found it: several short documents in one call, 8,000
    characters of them and thirty judgements at most. Without a model claims are sentences with
    numbers, names or dates. They are judged by rules where a document says the same or another
    number, and are `unverified` otherwise, with the documents as they rank by the claim's words.

    The judge decides. Support for a claim whose numbers, dates or amounts its quotes do not have
    is asked about once more, blind, and so is all support with `checks: "double"`, twenty claims a
    call: what is not confirmed is `in_doubt`. No rule takes a contradiction away.

    Args:
        adapters: Where to search.
        model: The model that judges; None for none.
        clock: The time.
    """

    def __init__(
        self,
        adapters: Adapters,
        model: "Model | None",
        *,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self.adapters = adapters
        self.model: Any = model
        # What holds for given documents alone is not shared with other callers.
        self._known = KnownVerdicts(adapters.verdicts if adapters else MemoryCache())
        self._clock = clock

    @property
    def models(self) -> tuple[Any, ...]:
        """The one that it asks."""
        return () if self.model is None else (self.model,)

    async def remember(self, verdicts: Iterable[ClaimVerdict]) -> None:
        """Take verdicts that are on record into those that may be taken again."""
        await self._known.keep(verdicts)

    async def check(
        self,
        text: str = "",
        *,
        claims: Sequence[str] | None = None,
        documents: Sequence[Document] = (),
        options: CheckOptions | None = None,
        judgements: Sequence[Judgement] = (),
    ) -> ClaimReport:
        """Check the claims of a text, or given ones, against the evidence.

        See `ClaimChecker.check`. Documents at hand are used whatever the filters say: those
        are for what is searched.
        """
        options = options or CheckOptions()
        filters = filters_of(options)
        sources = self._sources(options, documents)
        # A ledger of its own counts what the check has cost while others spend from the same one.
        calls = current_calls()
        ledger = calls.ledger.part(Budget())
        with replace(calls, ledger=ledger).active():
            extracted = (
                await self._find_claims(text, options)
                if claims is None
                else Extracted(claims=claims_given(claims, text))
            )
            # What was given is asked for: its need is 1.
            wanted = [each for each in extracted.claims if each.need >= NEEDS_EVIDENCE]
            own = _match_claims(judgements, wanted)
            report = await self._check_claims(wanted, documents, own, sources, filters, options)
            if claims is None and self.model is not None and not extracted.degraded:
                # Not before: a host that is asked in rounds gets the same question in each.
                await self._known.keep_claims(text, self.model.model_id, extracted.claims)
        lines = tuple(dict.fromkeys((*extracted.degraded, *report.degraded)))
        return report.model_copy(update={"degraded": lines, "usage": ledger.spent})

    async def _find_claims(self, text: str, options: CheckOptions) -> Extracted:
        """The claims of a text, those that a model has found in it before included."""
        if not text.strip():
            return Extracted()
        if self.model is not None and options.max_age_seconds > 0:
            with scope("known claims"):
                known = await self._known.claims_of(text, self.model.model_id)
            if known is not None:
                return known
        with scope("claims"):
            return await extract(text, self.model)

    async def _check_claims(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        own: Mapping[int, Judgement],
        sources: Sequence[Adapter],
        filters: SearchFilters,
        options: CheckOptions,
    ) -> ClaimReport:
        """The verdicts on claims; `own` are the caller's judgements, by the numbers of theirs."""
        # Those that need evidence most, in their order.
        needing = sorted(range(len(claims)), key=lambda n: -claims[n].need)
        chosen = sorted(needing[: options.max_claims])
        if not chosen:
            return ClaimReport()
        # On record, as it reaches prompts: they are the same when the run is resumed.
        at = datetime.fromisoformat(await recorded("clock", "now", self._read_clock))
        picked = {n: claims[n] for n in chosen}
        given = await to_thread.run_sync(of_claims, picked, documents, at, options.max_documents)
        model = "" if self.model is None else str(self.model.model_id)
        bases = {n: basis_of(sources, filters, given[n], model, options) for n in chosen}
        age = timedelta(seconds=min(options.max_age_seconds, _LONGEST_AGE))
        with scope("known"):
            open_ = {n: claim for n, claim in picked.items() if n not in own}
            reused = await self._known.take(open_, bases, oldest=at - age)
        fresh = {n: claim for n, claim in picked.items() if n not in reused}
        searched = await find(fresh, given, sources, most=options.max_documents, filters=filters)
        judged = await self._judge_claims(fresh, searched, own, double=options.checks == "double")
        verdicts: dict[int, ClaimVerdict] = {}
        for n, claim in fresh.items():
            is_own = n in own  # which is for this caller alone
            failure = "" if self.model or is_own else NO_MODEL
            if searched[n].status == "search_failed":
                failure = f"the search failed: {'; '.join(searched[n].degraded)}"
            # A later check would find no more.
            is_complete = not searched[n].failures and not (self.model and _find_failed(judged[n]))
            basis = bases[n] if is_complete and not is_own else ""
            verdicts[n] = verdict_of(claim, judged[n], at=at, failure=failure, basis=basis)
        await self._known.keep(verdicts.values())
        verdicts |= reused
        further = len(claims) - len(chosen)
        unjudged = [f"{NO_MODEL}: the evidence is ranked, and judged by rules alone"]
        if self.model is not None:
            failed = [each for sources in judged.values() for each in _find_failed(sources)]
            unjudged = [f"{s.document.title[:100] or s.document.place}: {s.reason}" for s in failed]
        return ClaimReport(
            verdicts=tuple(
                verdicts.get(n)
                or ClaimVerdict(
                    claim=claim,
                    verdict="unverified",
                    reason="it was not checked: others need evidence more",
                    checked_at=at,
                )
                for n, claim in enumerate(claims)
            ),
            degraded=(
                *((f"{further} further claims were not checked",) if further else ()),
                *(line for each in searched.values() for line in (*each.degraded, *each.notes)),
                *unjudged,
            ),
        )

    async def _judge_claims(
        self,
        claims: Mapping[int, Claim],
        searched: Mapping[int, Searched],
        own: Mapping[int, Judgement],
        *,
        double: bool,
    ) -> dict[int, tuple[JudgedSource, ...]]:
        documents = {n: each.documents for n, each in searched.items()}
        judged = {
            n: await to_thread.run_sync(by_caller, claims[n], documents.pop(n), judgement)
            for n, judgement in own.items()
            if n in documents
        }
        if self.model is None:
            return judged | {
                n: await to_thread.run_sync(unjudged, claims[n], d) for n, d in documents.items()
            }
        return judged | await judge_claims(claims, documents, self.model, double=double)

    def _sources(self, options: CheckOptions, documents: Sequence[Document]) -> tuple[Adapter, ...]:
        """The adapters to search."""
        at_hand = any(document.text.strip() for document in documents)
        if options.search and (self.adapters or options.adapters or not at_hand):
            return self.adapters.chosen(options.adapters)
        if not at_hand:
            raise ConfigurationError(
                "there are no documents to hold the claims against", "give some, or allow a search"
            )
        return ()

    async def _read_clock(self) -> str:
        return self._clock().isoformat()


def _match_claims(judgements: Iterable[Judgement], claims: Sequence[Claim]) -> dict[int, Judgement]:
    numbers = {normal(claim.text): n for n, claim in enumerate(claims)}
    numbers |= {str(n + 1): n for n in range(len(claims))}
    matches: dict[int, Judgement] = {}
    for each in judgements:
        number = numbers.get(normal(each.claim))
        if number is None:
            raise ConfigurationError(
                f"no claim is {each.claim[:80]!r}", "give its words, or its number from 1"
            )
        matches[number] = each
    return matches


def _find_failed(judged: Iterable[JudgedSource]) -> list[JudgedSource]:
    """The documents that were not judged."""
    return [each for each in judged if each.stance == "unjudged"]


_AT_A_TIME = 4
"""Claims that are searched for at the same time: sources are other people's machines."""


def at_hand(documents: Iterable[Document], at: datetime) -> tuple[SourceDocument, ...]:
    """Documents that came with a text, each once, whatever its addresses; none without words.

    One that was found somewhere before says where and when; another counts as retrieved `at`.
    """
    made = [_as_source(document, at) for document in documents if document.text.strip()]
    return tuple(made[places[0]] for places in sorted(map(sorted, groups(made))))


def of_claims(
    claims: Mapping[int, Claim], documents: Sequence[Document], at: datetime, most: int
) -> dict[int, tuple[SourceDocument, ...]]:
    """For each claim those of the documents at hand that match it best, at most `most`."""
    given = at_hand(documents, at)
    if len(given) <= most:
        return dict.fromkeys(claims, given)
    return {
        n: tuple(each for each in rank_documents(claim.text, given)[:most] if each.score)
        for n, claim in claims.items()
    }


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
    branches = {
        f"search {n}": partial(search, adapters, [claim.text], max_results=most, filters=filters)
        for n, claim in claims.items()
    }
    results = await fan_out(branches, calls_each=0, parallel=_AT_A_TIME)
    documents = {
        n: {document.key: document for document in (*given[n], *result.documents)}
        for n, result in zip(claims, results, strict=True)
    }
    return {
        n: result.model_copy(update={"documents": tuple(documents[n].values())})
        for n, result in zip(claims, results, strict=True)
    }


def _as_source(document: Document, at: datetime) -> SourceDocument:
    metadata = document.metadata
    return SourceDocument.of(document, adapter=str(metadata.get("adapter") or GIVEN)).model_copy(
        update={"retrieved_at": moment(metadata.get("retrieved_at")) or at}
    )
