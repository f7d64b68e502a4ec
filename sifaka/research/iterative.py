"""The iterative graph: one section, from its first search to its draft.

thinking -> knowledge_gap -> should_continue -> continue_decision -> tool_selector -> execute_tools
-> thinking, and from the decision to the writer. A limit that is reached lets every node pass
without a call, so that the writer writes from the findings so far.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from anyio import to_thread
from pydantic_graph import Graph, GraphBuilder, StepContext

from sifaka.calls.context import fan_out, scope
from sifaka.calls.failure_log import report_failure
from sifaka.errors import BudgetExceeded, ModelProviderError, SourceError
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
from sifaka.evidence.pipeline import keyword_queries, shortened
from sifaka.evidence.search import rank_documents, search
from sifaka.evidence.verify import NO_MODEL, PARALLEL, Sheet, packed, verifications
from sifaka.models.structured import Form
from sifaka.record.entries import Researched
from sifaka.research.agents import (
    KNOWLEDGE_GAP,
    SHOULD_CONTINUE,
    THINKING,
    TOOL_SELECTOR,
    AgentTask,
    PlannedSection,
    ResearchAgent,
    consult,
    continue_prompt,
    gap_prompt,
    selector_prompt,
    thinking_prompt,
)
from sifaka.research.draft import write
from sifaka.research.progress import Loop, Work, is_host, record_section
from sifaka.research.state import (
    Finding,
    LoopState,
    ReportSection,
    Round,
    listed,
    source_of,
    stop_of,
)

if TYPE_CHECKING:
    from pydantic_ai.models import Model

logger = logging.getLogger(__name__)
Output = TypeVar("Output", bound=Form)
Context: TypeAlias = StepContext[None, Loop, LoopState]
"""Each step is given the state and returns another: one that raises has changed nothing."""


async def research_section(
    work: Work, number: int, plan: PlannedSection, *, part_of: str = ""
) -> ReportSection:
    """Research a section and put it on record; a section on record is taken from there.

    Raises:
        SifakaError: It failed; its end is not on record.
    """
    earlier = work.progress.sections.get(number)
    if earlier is not None:
        return earlier
    rounds = work.progress.rounds.get(number, ())
    loop = Loop(
        work=work,
        number=number,
        plan=plan,
        budget=work.budgets[number],
        begun=time.monotonic() - (rounds[-1].seconds if rounds else 0.0),
        part_of=part_of,
    )
    if number not in work.progress.begun:
        await work.desk.record(
            Researched(
                step="section_started",
                section=number,
                title=plan.title,
                message=f"researching {plan.title!r}",
            )
        )
    with scope(f"section {number}"):
        section = await iterative_graph().run(
            deps=loop, inputs=LoopState(rounds=rounds, now=Round(number=len(rounds) + 1))
        )
    await record_section(work.desk, section)
    return section


@cache
def iterative_graph() -> Graph[None, Loop, LoopState, ReportSection]:
    """The graph of one section."""
    graph = GraphBuilder(
        name="iterative",
        deps_type=Loop,
        input_type=LoopState,
        output_type=ReportSection,
        auto_instrument=False,
    )
    thinking = graph.step(_think, node_id="thinking")
    knowledge_gap = graph.step(_look_for_gaps, node_id="knowledge_gap")
    should_continue = graph.step(_judge, node_id="should_continue")
    tool_selector = graph.step(_select_tools, node_id="tool_selector")
    execute_tools = graph.step(_execute_tools, node_id="execute_tools")
    writer = graph.step(write, node_id="writer")
    searching = graph.match(LoopState, matches=_must_search).label("gaps remain")
    writing = graph.match(LoopState).label("complete, or a limit is reached")
    decision = graph.decision(node_id="continue_decision")
    graph.add(
        graph.edge_from(graph.start_node).to(thinking),
        graph.edge_from(thinking).to(knowledge_gap),
        graph.edge_from(knowledge_gap).to(should_continue),
        graph.edge_from(should_continue).to(
            decision.branch(searching.to(tool_selector)).branch(writing.to(writer))
        ),
        graph.edge_from(tool_selector).to(execute_tools),
        graph.edge_from(execute_tools).to(thinking),
        graph.edge_from(writer).to(graph.end_node),
    )
    return graph.build()


async def _ask_agent(
    loop: Loop,
    state: LoopState,
    agent: ResearchAgent[Output],
    prompt: str,
    *,
    judge: "Model | None" = None,
) -> tuple[Output | None, LoopState]:
    """An agent's answer; None without a model or room for a call, the limit then in the state."""
    model = loop.work.model
    if model is None or state.stops:
        return None, state
    try:
        with loop.budget.looping.active(), scope(f"iteration {state.now.number}"):
            return await consult(agent, judge or model, prompt, history=loop.work.history), state
    except BudgetExceeded as error:
        return None, state.stopping(stop_of(error))


async def _think(ctx: Context) -> LoopState:
    """Look at the findings; without any, no model is asked."""
    loop, state = ctx.deps, ctx.inputs
    if len(state.rounds) >= loop.work.inquiry.max_iterations:
        state = state.stopping("iterations")
    if loop.work.model is None or state.stops or not state.findings:
        return state
    number, findings = state.now.number, state.findings
    await loop.tell("thinking", f"iteration {number}: looking at {len(findings)} findings")
    prompt = thinking_prompt(loop.plan.question, number, past=state.past, findings=listed(findings))
    thought, state = await _ask_agent(loop, state, THINKING, prompt)
    return state if thought is None else state.adding(observations=thought.observations)


async def _look_for_gaps(ctx: Context) -> LoopState:
    """Name what is missing: all of the question while nothing was found.

    Nothing is complete before the first search, and one search is all without anybody to ask.
    """
    loop, state = ctx.deps, ctx.inputs
    question, gap = loop.plan.question, None
    if state.findings:
        prompt = gap_prompt(
            question, observations=state.now.observations, findings=listed(state.findings)
        )
        gap, state = await _ask_agent(loop, state, KNOWLEDGE_GAP, prompt)
    if gap is None:
        may_ask = loop.work.model is not None and not state.stops
        complete, named = bool(state.rounds) and not may_ask, (question,)
    else:
        complete, named = gap.research_complete, tuple(filter(str.strip, gap.gaps)) or (question,)
    return state.adding(complete=complete, gaps=() if complete else named)


async def _judge(ctx: Context) -> LoopState:
    """Have the judge decide about the next search; without an answer the gaps decide.

    No judge is asked about no findings, and none allows more searches than the limits do.
    """
    loop, state = ctx.deps, ctx.inputs
    judge = loop.work.judge or loop.work.model
    if not state.findings or judge is None or is_host(judge):
        return state
    question, gaps = loop.plan.question, state.now.gaps
    prompt = continue_prompt(question, gaps=gaps, findings=listed(state.findings), past=state.past)
    try:
        answer, state = await _ask_agent(loop, state, SHOULD_CONTINUE, prompt, judge=judge)
    except ModelProviderError as error:
        report_failure(logger, "research:should_continue", error)
        line = f"no judge decided whether to go on: {error.message}"
        return state.adding(degraded=(*state.now.degraded, line))
    if answer is None:
        return state
    goes_on = answer.should_continue
    return state.adding(complete=not goes_on, gaps=(gaps or (question,)) if goes_on else ())


def _must_search(state: LoopState) -> bool:
    """The condition of `continue_decision`: a loop without room for a call still searches once."""
    is_first = not state.rounds and "time" not in state.stops
    return (is_first or not state.stops) and not state.now.complete


async def _select_tools(ctx: Context) -> LoopState:
    """Turn the gaps into searches; without an answer each gap is one, of the question each half."""
    loop, state = ctx.deps, ctx.inputs
    gaps = state.now.gaps
    prompt = selector_prompt(
        loop.plan.question, gaps=gaps, adapters=loop.work.adapters.names, past=state.past
    )
    plan, state = await _ask_agent(loop, state, TOOL_SELECTOR, prompt)
    if plan is not None:
        return state.adding(tasks=tuple(plan.tasks))
    queries = map(shortened, gaps if state.rounds else keyword_queries(loop.plan.question))
    tasks = [AgentTask(query=query) for query in filter(None, queries)]
    return state.adding(tasks=tuple(tasks[:4]))


async def _execute_tools(ctx: Context) -> LoopState:
    """Make every search, judge what is new, and put the iteration on record."""
    loop, state, results = ctx.deps, ctx.inputs, SearchResults()
    tasks, calls = state.now.tasks, loop.budget.looping
    queries = ", ".join(task.query for task in tasks)[:200]
    await loop.tell("searching", f"{len(tasks)} searches: {queries}")
    with calls.active(), scope(f"iteration {state.now.number}"):
        with calls.ledger.within_time() as limit:
            await search_all(loop, state, tasks, results)
            await loop.tell(
                "search_complete",
                f"{len(results.documents)} documents that were not looked at before",
            )
            if results.documents and loop.work.model is not None:
                await loop.tell("judging", f"judging {len(results.documents)} documents")
                await judge_all(loop, state, results)
        if limit.cancelled_caught or calls.ledger.seconds_left == 0.0:
            state = state.stopping("time")
        elif not state.findings and {each.status for each in results.searches} == {"search_failed"}:
            text = "; ".join(dict.fromkeys(line for s in results.searches for line in s.degraded))
            raise SourceError(f"no source could be searched: {text}", "see that sources answer")
        findings = await findings_of(loop, state, results)
    after = state.adding(
        findings=findings,
        seen=tuple(results.documents),
        degraded=tuple(dict.fromkeys((*state.now.degraded, *results.degraded))),
        seconds=time.monotonic() - loop.begun,
    )
    await loop.work.desk.record(
        Researched(
            step="looping",
            section=loop.number,
            title=loop.plan.title,
            iteration=after.now.number,
            message=f"iteration {after.now.number}: {len(findings)} new findings",
            state=after.now.model_dump(mode="json"),
        )
    )
    return after.next_round()


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


async def search_all(
    loop: Loop, state: LoopState, tasks: Sequence[AgentTask], results: SearchResults
) -> None:
    """Make every search, all at the same time; documents that were seen before are left out."""
    searches = {f"task {n}": partial(_search_one, loop, task) for n, task in enumerate(tasks)}
    results.searches = await fan_out(searches, calls_each=0)
    for task, result in zip(tasks, results.searches, strict=True):
        if task.adapter and task.adapter not in loop.work.adapters.names:
            results.degraded.append(f"there is no adapter {task.adapter!r}: all were searched")
        results.degraded += [*result.degraded, *result.notes]
    # In turn, so that each search has its share of what is judged.
    columns = [
        [(document, task.query) for document in result.documents]
        for task, result in zip(tasks, results.searches, strict=True)
    ]
    for row in zip_longest(*columns):
        for document, query in filter(None, row):
            source = source_of(document)
            if source not in state.seen and len(results.documents) < MOST_JUDGED:
                results.documents.setdefault(source, (document, query))


async def _search_one(loop: Loop, task: AgentTask) -> Searched:
    adapters = loop.work.adapters
    names = [task.adapter] if task.adapter in adapters.names else []
    return await search(adapters.chosen(names), [task.query], max_results=RESULTS)


async def judge_all(loop: Loop, state: LoopState, results: SearchResults) -> None:
    """Check every new document against the question and the gaps."""
    criteria = _make_criteria(loop, state)
    with scope("judging"):
        judging = verifications(
            packed(Sheet(document, criteria) for document, _ in results.documents.values()),
            question=loop.plan.question,
            model=loop.work.model,
        )
        await fan_out(
            {name: partial(_keep, results, branch) for name, branch in judging.items()},
            calls_each=0,
            parallel=PARALLEL,
        )


async def _keep(into: SearchResults, judging: Callable[[], Awaitable[list[Verification]]]) -> None:
    """Keep what was judged at once: the rest may be cut off by time."""
    into.judged |= {source_of(each.document): each for each in await judging()}


async def findings_of(loop: Loop, state: LoopState, results: SearchResults) -> tuple[Finding, ...]:
    """The findings of the documents that were not rejected, the best first."""
    evidence = await _gather_evidence(loop, state, results)
    kept = [each for each in ranked(evidence) if each.classification != "reject"]
    results.degraded += dict.fromkeys(each.degraded for each in kept if each.degraded)
    return tuple(
        Finding.of(number, each, results.documents[source_of(each.document)][1])
        for number, each in enumerate(kept, len(state.findings) + 1)
    )


async def _gather_evidence(loop: Loop, state: LoopState, results: SearchResults) -> list[Evidence]:
    documents = [document for document, _ in results.documents.values()]
    if loop.work.model is None:
        query = " ".join((loop.plan.question, *state.now.gaps))
        order = await to_thread.run_sync(_pick_relevant, loop.plan.question, query, documents)
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
    criteria = _make_criteria(loop, state)
    late = {source: Verification(document=d, degraded=_TIME_OVER)
            for source, (d, _) in results.documents.items()}  # fmt: skip
    return [classify(each, criteria) for each in (late | results.judged).values()]


def _pick_relevant(
    question: str, query: str, documents: Sequence[SourceDocument]
) -> list[SourceDocument]:
    """The documents that speak about the question by their words, best first."""
    return [
        document
        for document in rank_documents(query, documents)
        if overlap(question, f"{document.title} {document.text}") >= RELEVANT
    ]


def _make_criteria(loop: Loop, state: LoopState) -> tuple[Criterion, ...]:
    gaps = " ".join(state.now.gaps)
    question = Criterion(
        id="question",
        name="the question",
        description=f"It says something that helps to answer: {loop.plan.question}",
    )
    missing = Criterion(
        id="gap", name="what is missing", description=f"It says something about: {gaps}"
    )
    criteria = (question,) if gaps in {"", loop.plan.question} else (question, missing)
    return weighted(criteria, [1] * len(criteria))
