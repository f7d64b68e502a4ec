"""Evidence for a question: plan, search, verify, classify."""

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread
from pydantic import Field

from sifaka._internal.naming import unique
from sifaka.calls.context import fan_out, scope
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.evidence.documents import ANYTHING, SearchFilters, spread
from sifaka.evidence.model import (
    BatchEntry,
    Criterion,
    Evidence,
    EvidenceProgress,
    EvidenceResult,
    Searched,
    SearchPlan,
    Verification,
    Verified,
    classify,
    ranked,
    weighted,
)
from sifaka.evidence.search import check_limit, scores_of, search
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.verify import NO_MODEL, PARALLEL, Sheet, verifications
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, Number, ask
from sifaka.text.input import check_text
from sifaka.text.prose import whole_words

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

        async def judge(
            number: int, verified: Callable[[], Awaitable[list[Verification]]]
        ) -> Evidence:
            (verification,) = await verified()
            evidence = classify(verification, made.criteria)
            await hear(Verified(evidence=evidence, number=number, of=len(branches)))
            return evidence

        judging = {
            name: partial(judge, number, branch)
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
    return await fan_out(
        {
            f"question {number}": partial(_entry, question, answer)
            for number, question in enumerate(questions)
        },
        calls_each=0,
        parallel=at_once,
    )


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
    usage = sum((each.usage for each in judged), made.usage)
    unverified = Counter(each.degraded for each in judged if each.degraded is not None)
    classes = {each.classification for each in judged}
    if "unverified" in classes:
        judged = await _scale_scores(made.question, judged)
    evidence = ranked(judged)
    if classes == {"unverified"}:
        of = {id(each.document): each for each in evidence}
        evidence = tuple(of[id(each)] for each in spread(each.document for each in evidence))
    return EvidenceResult(
        question=made.question,
        plan=made,
        status=searched.status,
        evidence=evidence,
        degraded=(
            *((made.degraded,) if made.degraded is not None else ()),
            *searched.degraded,
            *(
                f"{number} of {len(judged)} documents were not verified: {reason}"
                for reason, number in unverified.items()
            ),
            *usage.notes,
        ),
        notes=(*made.notes, *searched.notes),
        usage=usage,
    )


async def _scale_scores(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence, where unverified with its share of the best match's score."""
    scores = await to_thread.run_sync(scores_of, question, [each.document for each in evidence])
    best = max(scores) or 1.0
    return [
        each.model_copy(update={"score": score / best})
        if each.classification == "unverified"
        else each
        for each, score in zip(evidence, scores, strict=True)
    ]


LONGEST_QUERY = 200
"""Characters: search engines refuse long queries."""
_EDGE = "\"'“”‘’«»()[]{}<>?!.,;:…"
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        """a about an and any are as at be been being but by can could did do does for from had has
        have how i if in is it its many may me might much must my of on or shall should
        so some than that the their them there these they this those to was we were what
        when where which who whom whose why will with would you your""",
    )
)
"""Words of English questions that no document is found by."""


def plain_plan(
    question: str, queries: Sequence[str] = (), degraded: str | None = None
) -> SearchPlan:
    """The question as the only query where no others are given, and being about it as criterion."""
    return SearchPlan(
        question=question,
        queries=tuple(queries) or (shortened(question),),
        criteria=(topic(question),),
        degraded=degraded,
    )


def keyword_queries(question: str) -> tuple[str, ...]:
    """The question as one query, and each half of its telling words."""
    words = [word for each in question.split() if (word := each.strip(_EDGE))]
    telling = [word for word in words if word.casefold() not in _EMPTY]
    if len(telling) < 2:
        telling = words
    middle = (len(telling) + 1) // 2
    queries = (question, *map(" ".join, (telling[:middle], telling[middle:])))
    return tuple(dict.fromkeys(filter(None, map(shortened, queries))))


def topic(question: str) -> Criterion:
    """The criterion that a document is about the question."""
    return Criterion(
        id="topic",
        type="topic",
        name="about the question",
        description=f"It helps to answer: {' '.join(question.split())[:_LONGEST_DESCRIPTION]}",
    )


def shortened(query: str) -> str:
    """A query in one line and of a length that search engines take, cut at the end of a word."""
    return whole_words(" ".join(query.split()), LONGEST_QUERY)


MAX_QUESTION = 10_000
"""Characters of a question."""
_LEAST_QUERIES, _MOST = 2, 4
_LONGEST_NAME, _LONGEST_DESCRIPTION = 100, 1_000
_DEGRADED = "planned from the question's words"
PROMPT = Prompt(
    purpose="Plans a search: queries for search engines, and criteria for what they find.",
    task="You plan a search for documents that help to answer a question.",
    rules=(
        "`queries`: 2 to 4 queries for search engines, the most telling first. Each has a few "
        "words in the language of the question, and is no sentence.",
        "`criteria`: 1 to 4 criteria that a useful document meets.",
        "Each criterion has a short id of its own and a name. Its `type` is `time` when it asks "
        "only about a time, otherwise `topic`.",
        "Its description says what to look for, in one sentence that can be understood without "
        "the question. Its weight says how much it counts beside the others.",
    ),
    example="For example, the question `How tall is the Eiffel Tower?` has the queries `Eiffel "
    "Tower height` and `Eiffel Tower metres`, and the criterion `It says how tall the Eiffel Tower "
    "is.`",
)


class _Criterion(Form):
    """One thing a document should meet."""

    id: str = ""
    type: str = Field(default="topic", description="`topic` or `time`")
    name: str = ""
    description: str = Field(default="", description="what to look for, as a sentence")
    weight: Number = Field(default=0.0, description="how much it counts beside the others")


class _Plan(Form):
    """Queries and criteria for a question."""

    queries: list[str]
    criteria: list[_Criterion]


async def plan(question: str, model: "Model | None") -> SearchPlan:
    """The plan for a question: 2 to 4 queries, 1 to 4 criteria whose weights add up to 1.

    One model call at the place `plan` of the journal. What is wrong with a model's plan is put
    right and noted. Without a model, or when no plan comes of it, the plan is made of the
    question's words and says so in `degraded`; for a question of one word it has one query.

    Raises:
        ConfigurationError: The question is empty, too long, or no Unicode.
        StorageError: The answer could not be put on record.
        Suspended: The answer of the host is needed.
    """
    question = checked_question(question)
    if model is None:
        return plain_plan(question, keyword_queries(question), f"{_DEGRADED}: there is no model")
    try:
        with scope("plan"):
            return await _ask_model(question, model)
    except StorageError:
        raise
    # A model may be foreign code, and a plan can be made without it.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "evidence:planner", error)
        reason = error.message if isinstance(error, SifakaError) else type(error).__name__
        return plain_plan(question, keyword_queries(question), f"{_DEGRADED}: {reason}")


def checked_question(question: str) -> str:
    """The question without space around it.

    Raises:
        ConfigurationError: It is empty, too long, or no Unicode.
    """
    question = check_text(question, "question").strip()
    if not question:
        raise ConfigurationError("the question is empty", "say what to look for")
    if len(question) > MAX_QUESTION:
        raise ConfigurationError(
            f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are allowed",
            "ask for less at once",
        )
    return question


async def _ask_model(question: str, model: "Model") -> SearchPlan:
    request = f"{frame('question', question)}\n\nPlan the search for this question."
    answer, usage = await ask(model, PROMPT.text, request, _Plan)
    notes: list[str] = []
    return SearchPlan(
        question=question,
        queries=_pick_queries(answer.queries, question, notes),
        criteria=_pick_criteria(answer.criteria, question, notes),
        notes=tuple(notes),
        usage=usage,
    )


def _pick_queries(planned: Sequence[str], question: str, notes: list[str]) -> tuple[str, ...]:
    picked: dict[str, str] = {}
    for query in filter(None, map(shortened, planned)):
        picked.setdefault(query.casefold(), query)
    if len(picked) > _MOST:
        notes.append(f"of {len(picked)} queries the first {_MOST} were taken")
    if len(picked) < _LEAST_QUERIES:
        notes.append(f"the plan had {len(picked) or 'no'} queries; the question's words were added")
        for query in keyword_queries(question):
            if len(picked) < _LEAST_QUERIES:
                picked.setdefault(query.casefold(), query)
    return tuple(picked.values())[:_MOST]


def _pick_criteria(
    planned: Sequence[_Criterion], question: str, notes: list[str]
) -> tuple[Criterion, ...]:
    """The criteria with their weights, at most four, one of them at least not about time."""
    picked = [each for each in planned if each.name.strip() or each.description.strip()]
    if len(picked) > _MOST:
        notes.append(f"of {len(picked)} criteria the first {_MOST} were taken")
        picked = picked[:_MOST]
    criteria = [
        Criterion(
            id=" ".join(each.id.split())[:_LONGEST_NAME] or f"c{number}",
            type=each.type.strip()[:_LONGEST_NAME] or "topic",
            name=" ".join(each.name.split())[:_LONGEST_NAME],
            description=" ".join((each.description or each.name).split())[:_LONGEST_DESCRIPTION],
        )
        for number, each in enumerate(picked, 1)
    ]
    weights = [each.weight for each in picked]
    if all(each.is_about_time for each in criteria):
        what = "only criteria about time" if criteria else "no criteria"
        notes.append(f"the plan had {what}; being about the question was added")
        # It counts as much as the heaviest: time alone makes nothing relevant.
        criteria = [topic(question), *criteria[: _MOST - 1]]
        weights = [max(weights, default=1.0), *weights[: _MOST - 1]]
    return weighted(_make_unique(criteria, notes), weights)


def _make_unique(criteria: Sequence[Criterion], notes: list[str]) -> list[Criterion]:
    """The criteria with ids that differ in more than capitals."""
    names = unique([each.id for each in criteria], "{}-{}", key=str.casefold)
    notes += [
        f"two criteria had the id {criterion.id!r}"
        for criterion, name in zip(criteria, names, strict=True)
        if name != criterion.id
    ]
    return [
        criterion.model_copy(update={"id": name})
        for criterion, name in zip(criteria, names, strict=True)
    ]
