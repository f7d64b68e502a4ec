"""The searches of one iteration, and the verification of the documents that they find."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.calls.journal import scope
from sifaka.errors import SourceError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import (
    Criterion,
    Evidence,
    Searched,
    Verification,
    classify,
    ranked,
    weighted,
)
from sifaka.evidence.passages import RELEVANT, overlap
from sifaka.evidence.search import rank_documents, search
from sifaka.evidence.verify import NO_MODEL, PARALLEL, Sheet, packed, verifications
from sifaka.research.progress import Loop
from sifaka.research.state import Finding, LoopState, SearchTask, source_of

RESULTS = 5
"""Documents that one search brings at most."""
MOST_JUDGED = 10
"""Documents that are judged in one iteration."""
_TIME_OVER = "not verified: the budget of time was spent"


@dataclass(slots=True)
class SearchResults:
    """The documents of an iteration; filled step by step, so that a time-out leaves the rest."""

    searches: Sequence[Searched] = ()
    documents: dict[str, tuple[SourceDocument, str]] = field(
        default_factory=dict[str, tuple[SourceDocument, str]]
    )
    """By their source, each with the query that has found it."""
    judged: dict[str, Verification] = field(default_factory=dict[str, Verification])
    """By the document's source."""
    degraded: list[str] = field(default_factory=list[str])

    def require_an_answer(self) -> None:
        """See that some search was answered."""
        if self.searches and all(each.status == "search_failed" for each in self.searches):
            reasons = dict.fromkeys(line for each in self.searches for line in each.degraded)
            told = "; ".join(reasons)
            raise SourceError(f"no source could be searched: {told}", "see that sources answer")


async def search_all(
    loop: Loop, state: LoopState, tasks: Sequence[SearchTask], found: SearchResults
) -> None:
    """Make every search, all at the same time; documents that were seen before are left out."""
    searches = {f"task {n}": partial(_searched, loop, task) for n, task in enumerate(tasks)}
    found.searches = await fan_out(searches, calls_each=0)
    for task, result in zip(tasks, found.searches, strict=True):
        if task.adapter and task.adapter not in loop.work.adapters.names:
            found.degraded.append(f"there is no adapter {task.adapter!r}: all were searched")
        found.degraded += [*result.degraded, *result.notes]
    # In turn, so that each search has its share of what is judged.
    columns = [
        [(document, task.query) for document in result.documents]
        for task, result in zip(tasks, found.searches, strict=True)
    ]
    for row in zip_longest(*columns):
        for document, query in filter(None, row):
            source = source_of(document)
            if source not in state.seen and len(found.documents) < MOST_JUDGED:
                found.documents.setdefault(source, (document, query))


async def _searched(loop: Loop, task: SearchTask) -> Searched:
    adapters = loop.work.adapters
    names = [task.adapter] if task.adapter in adapters.names else []
    return await search(adapters.chosen(names), [task.query], max_results=RESULTS)


async def judge_all(loop: Loop, state: LoopState, found: SearchResults) -> None:
    """Hold every new document against the question and the gaps."""
    documents = [document for document, _ in found.documents.values()]
    criteria = _criteria(loop, state)
    with scope("judging"):
        judging = verifications(
            packed(Sheet(document, criteria) for document in documents),
            question=loop.plan.question,
            model=loop.work.model,
        )
        await fan_out(
            {name: partial(_kept, found, branch) for name, branch in judging.items()},
            calls_each=0,
            parallel=PARALLEL,
        )


async def _kept(found: SearchResults, judging: Callable[[], Awaitable[list[Verification]]]) -> None:
    """Keep what was judged at once: the rest may be cut off by time."""
    found.judged |= {source_of(each.document): each for each in await judging()}


async def findings_of(loop: Loop, state: LoopState, found: SearchResults) -> tuple[Finding, ...]:
    """The findings of the documents that were not rejected, the best first."""
    evidence = await _evidence(loop, state, found)
    queries = {source_of(document): query for document, query in found.documents.values()}
    first = len(state.findings) + 1
    kept = [each for each in ranked(evidence) if each.classification != "reject"]
    found.degraded += dict.fromkeys(each.degraded for each in kept if each.degraded)
    return tuple(
        Finding.of(number, each, queries[source_of(each.document)])
        for number, each in enumerate(kept, first)
    )


async def _evidence(loop: Loop, state: LoopState, found: SearchResults) -> list[Evidence]:
    documents = [document for document, _ in found.documents.values()]
    if loop.work.model is None:
        asked = " ".join((loop.plan.question, *state.now.gaps))
        order = await to_thread.run_sync(_relevant, loop.plan.question, asked, documents)
        best = max((document.score or 0.0 for document in order), default=0.0) or 1.0
        return [
            Evidence(
                document=document,
                classification="unverified",
                score=(document.score or 0.0) / best,
                degraded=NO_MODEL,
            )
            for document in order
        ]
    criteria = _criteria(loop, state)
    late = {source: Verification(document=d, degraded=_TIME_OVER)
            for source, (d, _) in found.documents.items()}  # fmt: skip
    return [classify(each, criteria) for each in (late | found.judged).values()]


def _relevant(
    question: str, asked: str, documents: Sequence[SourceDocument]
) -> list[SourceDocument]:
    """The documents that speak about the question by their words, best first."""
    ranked_ = rank_documents(asked, documents)
    return [d for d in ranked_ if overlap(question, f"{d.title} {d.text}") >= RELEVANT]


def _criteria(loop: Loop, state: LoopState) -> tuple[Criterion, ...]:
    gaps = " ".join(state.now.gaps)
    question = Criterion(
        id="question",
        name="the question",
        description=f"It says something that helps to answer: {loop.plan.question}",
    )
    if not gaps or gaps == loop.plan.question:
        return weighted((question,), (1,))
    missing = Criterion(
        id="gap", name="what is missing", description=f"It says something about: {gaps}"
    )
    return weighted((question, missing), (1, 1))
