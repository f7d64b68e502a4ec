"""Evidence for a question: plan, search, verify, classify."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, StorageError
from sifaka.evidence.classify import classify, ranked
from sifaka.evidence.documents import ANYTHING, SearchFilters, spread
from sifaka.evidence.model import (
    BatchEntry,
    Evidence,
    EvidenceProgress,
    EvidenceResult,
    Searched,
    SearchPlan,
    Verification,
    Verified,
)
from sifaka.evidence.plan import checked_question, plain_plan, plan
from sifaka.evidence.ranking import scores_of
from sifaka.evidence.search import check_limit, search
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.verify import NO_MODEL, PARALLEL, Sheet, verifications

if TYPE_CHECKING:
    from pydantic_ai.models import Model

logger = logging.getLogger(__name__)
Hear = Callable[[EvidenceProgress], Awaitable[None]]


async def unheard(_: EvidenceProgress) -> None:
    """Let a step go by."""


class EvidencePipeline:
    """Finds documents for a question and says of each what it is worth as evidence.

    Without a model the plan is made of the question's words, the documents are ranked by BM25, and
    each is `unverified`: nothing is rejected without being looked at. It keeps nothing between
    two questions, so one instance serves any number of them at the same time.

    Args:
        adapters: Where to search.
        model: The model that plans and verifies; None for none.
    """

    def __init__(self, adapters: Adapters, model: "Model | None" = None) -> None:
        self._adapters = adapters
        self._model = model

    async def run(
        self,
        question: str,
        *,
        names: Sequence[str] = (),
        max_results: int = 10,
        filters: SearchFilters = ANYTHING,
        decompose: bool = True,
        verify: bool = True,
        hear: Hear = unheard,
    ) -> EvidenceResult:
        """The evidence for a question.

        Within a run its calls belong to the current place of the journal; two questions need a
        scope each.

        Args:
            question: What to find evidence for.
            names: The adapters to search with; empty means all.
            max_results: Documents at most, 1 to 100; each costs a model call.
            filters: Which documents are wanted.
            decompose: False searches for the question as it is, with one criterion.
            verify: False asks no model about the documents: they are ranked.
            hear: Is given the plan, what was found, each document when it is verified, in any
                order, and the result. What it raises ends the work.

        Raises:
            ConfigurationError: The question is empty or too long, there is no adapter at all or
                none of a name, or `max_results` is out of bounds. Nothing was asked.
            StorageError: An answer could not be put on record.
            Suspended: Answers of the host are needed.
        """
        adapters = self._adapters.chosen(names)
        question = checked_question(question)
        check_limit(max_results)
        made = await plan(question, self._model) if decompose else plain_plan(question)
        await hear(made)
        searched = await search(adapters, made.queries, max_results=max_results, filters=filters)
        await hear(searched)
        branches = verifications(
            [[Sheet(document, made.criteria)] for document in searched.documents],
            question=question,
            model=self._model if verify else None,
            without="that was not asked for" if not verify else NO_MODEL,
        )

        async def judged(
            number: int, verified: Callable[[], Awaitable[list[Verification]]]
        ) -> Evidence:
            (verification,) = await verified()
            evidence = classify(verification, made.criteria)
            await hear(Verified(evidence=evidence, number=number, of=len(branches)))
            return evidence

        judging = {
            name: partial(judged, number, branch)
            for number, (name, branch) in enumerate(branches.items())
        }
        evidence = await fan_out(judging, calls_each=0, parallel=PARALLEL)
        result = await concluded(made, searched, evidence)
        await hear(result)
        return result


async def answer_each(
    questions: Iterable[str],
    answer: Callable[[str], Awaitable[EvidenceResult]],
    *,
    at_once: int = 4,
) -> tuple[BatchEntry, ...]:
    """One entry for each question, in their order; one that fails costs the others nothing.

    Args:
        questions: What to find evidence for.
        answer: Finds the evidence for one, such as `EvidencePipeline.run`.
        at_once: Questions at the same time.

    Raises:
        StorageError: An answer could not be put on record.
        Suspended: Answers of the host are needed.
    """
    branches = {
        f"question {number}": partial(_entry, question, answer)
        for number, question in enumerate(questions)
    }
    return await fan_out(branches, calls_each=0, parallel=at_once)


async def _entry(question: str, answer: Callable[[str], Awaitable[EvidenceResult]]) -> BatchEntry:
    try:
        return BatchEntry(question=question, result=await answer(question))
    except StorageError:
        raise
    except SifakaError as error:
        return BatchEntry(question=question, error=str(error))
    # A bug that one question brings out costs the others nothing.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "evidence:pipeline", error)
        return BatchEntry(question=question, error=type(error).__name__)


async def concluded(
    made: SearchPlan, searched: Searched, judged: Sequence[Evidence]
) -> EvidenceResult:
    """The evidence in its order, and what did not work as it should have."""
    evidence = [*judged]
    usage = sum((each.usage for each in judged), made.usage)
    if any(each.classification == "unverified" for each in evidence):
        evidence = await _with_shares(made.question, evidence)
    evidence = [*ranked(evidence)]
    if all(each.classification == "unverified" for each in evidence):
        of = {id(each.document): each for each in evidence}
        evidence = [of[id(document)] for document in spread(each.document for each in evidence)]
    return EvidenceResult(
        question=made.question,
        plan=made,
        status=searched.status,
        evidence=tuple(evidence),
        degraded=(
            *((made.degraded,) if made.degraded is not None else ()),
            *searched.degraded,
            *_unverified(judged),
            *usage.notes,
        ),
        notes=(*made.notes, *searched.notes),
        usage=usage,
    )


async def _with_shares(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence, where unverified with its share of the best match's score."""
    documents = [each.document for each in evidence]
    scores = await to_thread.run_sync(scores_of, question, documents)
    best = max(scores) or 1.0
    return [
        each.model_copy(update={"score": score / best})
        if each.classification == "unverified"
        else each
        for each, score in zip(evidence, scores, strict=True)
    ]


def _unverified(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """A line for each reason for which documents were not verified."""
    reasons = Counter(each.degraded for each in evidence if each.degraded is not None)
    return tuple(
        f"{number} of {len(evidence)} documents were not verified: {reason}"
        for reason, number in reasons.items()
    )
