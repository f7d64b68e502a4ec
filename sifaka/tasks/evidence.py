"""Finding documents that help with a question, and saying what each is worth as evidence."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

import anyio
from pydantic import Field, ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.immutable import Frozen
from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.journal import scope
from sifaka.calls.ledger import Ledger
from sifaka.chain import Chain
from sifaka.chain.components import parts_of
from sifaka.errors import ConfigurationError, SifakaError
from sifaka.evidence.documents import ANYTHING, SearchFilters
from sifaka.evidence.model import (
    BatchEntry,
    EvidenceProgress,
    EvidenceResult,
    Finished,
    SearchPlan,
)
from sifaka.evidence.pipeline import EvidencePipeline
from sifaka.evidence.plan import plan
from sifaka.record.claims import CheckOptions
from sifaka.record.usage import Usage

HearEvidence = Callable[[EvidenceProgress], Awaitable[None]]
"""Is given the plan, what was found, each document as it is judged, and the result."""
_AT_ONCE = 4
"""Questions that are answered at the same time."""
_PLACE = "evidence"
"""The journal's place for the calls."""


class EvidenceOptions(Frozen):
    """The filters, limits and steps of a search for evidence."""

    adapters: tuple[str, ...] = ()
    """The names of the adapters to search with; empty means all."""
    filters: SearchFilters = ANYTHING
    max_results: int = Field(default=10, ge=1, le=100)
    decompose: bool = True
    """False searches for the question as it is."""
    verify: bool = True
    """False asks no model about the documents."""

    @classmethod
    def of(cls, options: CheckOptions, **steps: int | bool) -> "EvidenceOptions":
        """The options with the adapters and filters of a check.

        Raises:
            ConfigurationError: The filters let nothing through.
        """
        try:
            filters = SearchFilters(since=options.since, until=options.until, sites=options.sites)
        except ValidationError as error:
            raise ConfigurationError(explain(error)) from error
        return cls.model_validate({"adapters": options.adapters, "filters": filters, **steps})


async def search_evidence(
    chain: Chain,
    question: str,
    *,
    options: EvidenceOptions | None = None,
    frame_key: str | None = None,
    hear: HearEvidence | None = None,
) -> EvidenceResult:
    """Find and judge evidence with the model, the adapters and the budget of a chain.

    Nothing is stored.

    Args:
        chain: The chain.
        question: The question.
        options: Filters, limits and steps.
        frame_key: A secret of the caller, which the marks around quoted material are made with.
        hear: Receives each step as it is done.

    Raises:
        ConfigurationError: The question is empty or too long, or there is nothing to search.
        Suspended: Answers of the host are needed.
    """
    chosen = options or EvidenceOptions()
    parts = await parts_of(chain.settings, chain.resources, documents=True)
    pipeline = EvidencePipeline(chain.resources.adapters, parts.asked)
    result: EvidenceResult | None = None
    async with parts.connected():
        with _calls(chain, frame_key).active(), scope(_PLACE):
            coming = pipeline.stream(
                question,
                names=chosen.adapters,
                max_results=chosen.max_results,
                filters=chosen.filters,
                decompose=chosen.decompose,
                verify=chosen.verify,
            )
            async with aclosing(coming):
                async for each in coming:
                    if hear is not None:
                        await hear(each)
                    if isinstance(each, Finished):
                        result = each.result
    assert result is not None, "a stream that raises nothing ends with its result"
    return result


async def plan_search(chain: Chain, question: str, *, frame_key: str | None = None) -> SearchPlan:
    """The queries and criteria for a question; nothing is searched.

    Raises:
        ConfigurationError: The question is empty or too long.
        Suspended: The answer of the host is needed.
    """
    parts = await parts_of(chain.settings, chain.resources, documents=True)
    async with parts.connected():
        with _calls(chain, frame_key).active(), scope(_PLACE):
            return await plan(question, parts.asked)


async def search_each(
    chain: Chain, questions: Sequence[str], *, options: EvidenceOptions | None = None
) -> tuple[BatchEntry, ...]:
    """One entry for each question, in their order; one that fails costs the others nothing."""
    entries: dict[int, BatchEntry] = {}
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def answer(number: int, question: str) -> None:
        async with limiter:
            try:
                result = await search_evidence(chain, question, options=options)
            except SifakaError as error:
                entries[number] = BatchEntry(question=question, error=str(error))
            else:
                entries[number] = BatchEntry(question=question, result=result)

    async with anyio.create_task_group() as group:
        for number, question in enumerate(questions):
            group.start_soon(answer, number, question)
    return tuple(entries[number] for number in sorted(entries))


def _calls(chain: Chain, frame_key: str | None) -> Calls:
    return Calls(
        ledger=Ledger(chain.settings.budget, Usage()),
        breakers=chain.resources.breakers,
        monitor=chain.resources.monitor,
        frame_key=frame_key or new_frame_key(),
    )
