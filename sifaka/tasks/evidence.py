"""Finding documents that help with a question, and saying what each is worth as evidence."""

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import scope
from sifaka.chain import Chain
from sifaka.chain.parts import build_parts
from sifaka.evidence.documents import ANYTHING, SearchFilters
from sifaka.evidence.model import BatchEntry, EvidenceResult, SearchPlan
from sifaka.evidence.pipeline import EvidencePipeline, Hear, answer_each, plan, unheard
from sifaka.evidence.search import filters_of
from sifaka.record.claims import CheckOptions

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
        return cls.model_validate(
            {"adapters": options.adapters, "filters": filters_of(options), **steps}
        )


async def search_evidence(
    chain: Chain,
    question: str,
    *,
    options: EvidenceOptions | None = None,
    frame_key: str | None = None,
    hear: Hear = unheard,
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
    parts = await build_parts(chain.config, chain.resources, documents=True)
    pipeline = EvidencePipeline(chain.resources.adapters, parts.judge_model)
    async with parts.connected():
        with chain.resources.calls(chain.config.budget, frame_key).active(), scope(_PLACE):
            return await pipeline.run(
                question,
                names=chosen.adapters,
                max_results=chosen.max_results,
                filters=chosen.filters,
                decompose=chosen.decompose,
                verify=chosen.verify,
                hear=hear,
            )


async def plan_search(chain: Chain, question: str, *, frame_key: str | None = None) -> SearchPlan:
    """The queries and criteria for a question; nothing is searched.

    Raises:
        ConfigurationError: The question is empty or too long.
        Suspended: The answer of the host is needed.
    """
    parts = await build_parts(chain.config, chain.resources, documents=True)
    async with parts.connected():
        with chain.resources.calls(chain.config.budget, frame_key).active(), scope(_PLACE):
            return await plan(question, parts.judge_model)


async def search_each(
    chain: Chain, questions: Sequence[str], *, options: EvidenceOptions | None = None
) -> tuple[BatchEntry, ...]:
    """One entry for each question, in their order; one that fails costs the others nothing."""
    return await answer_each(questions, partial(search_evidence, chain, options=options))
