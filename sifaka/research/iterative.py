"""The iterative graph: searches in a loop, until enough is known to write.

thinking -> knowledge_gap -> continue_decision -> tool_selector -> execute_tools -> thinking, and
from the decision to the writer. A limit that is reached lets every node pass without a call, so
that the writer writes from what there is.
"""

import time
from functools import cache

from sifaka.calls.journal import scope
from sifaka.errors import BudgetExceeded
from sifaka.evidence.keyword_plan import keyword_queries, shortened
from sifaka.research.agents.ask import consult
from sifaka.research.agents.knowledge_gap import (
    KNOWLEDGE_GAP,
    KnowledgeGapInput,
    KnowledgeGapOutput,
)
from sifaka.research.agents.thinking import THINKING, Observations, ThinkingInput
from sifaka.research.agents.tool_selector import (
    TOOL_SELECTOR,
    AgentSelectionPlan,
    AgentTask,
    ToolSelectorInput,
)
from sifaka.research.context import past_of
from sifaka.research.draft import write
from sifaka.research.findings import listed
from sifaka.research.graph import DecisionNode, Done, Edge, ResearchGraph, StepNode
from sifaka.research.limits import stop_of
from sifaka.research.log import record_round
from sifaka.research.resources import Loop
from sifaka.research.search import Haul, findings_of, judge_all, search_all
from sifaka.research.state import LoopState, Task

State = Done[LoopState]


@cache
def iterative_graph() -> ResearchGraph[Loop, LoopState]:
    """The graph of one loop: it is given a question and gives a `Section`."""
    return ResearchGraph(
        name="iterative",
        entry="thinking",
        exits=("writer",),
        nodes=(
            StepNode(id="thinking", kind="agent", run=_think),
            StepNode(id="knowledge_gap", kind="agent", run=_look_for_gaps),
            DecisionNode(id="continue_decision", decide=_continue),
            StepNode(id="tool_selector", kind="agent", run=_select_tools),
            StepNode(id="execute_tools", kind="state", run=_execute_tools),
            StepNode(id="writer", kind="agent", run=write),
        ),
        edges=(
            Edge("thinking", "knowledge_gap"),
            Edge("knowledge_gap", "continue_decision"),
            Edge("continue_decision", "tool_selector", "conditional", "gaps remain"),
            Edge("continue_decision", "writer", "conditional", "complete, or a limit is reached"),
            Edge("tool_selector", "execute_tools"),
            Edge("execute_tools", "thinking"),
        ),
    )


async def _think(loop: Loop, state: LoopState, came: object) -> State:
    """Look at the findings; nothing when there is nobody to ask or no room for it."""
    del came  # what the searches have added is in the state
    if len(state.rounds) >= loop.work.inquiry.max_iterations:
        state = state.stopping("iterations")
    model = loop.work.model
    if model is None or state.stops:
        return Done(state, None)
    number = state.now.number
    await loop.tell("thinking", f"iteration {number}: looking at {len(state.findings)} findings")
    given = ThinkingInput(
        question=loop.plan.question,
        iteration=number,
        past=past_of(state),
        findings=listed(state.findings),
    )
    try:
        with loop.purse.looping.active(), scope(f"iteration {number}"), scope("thinking"):
            thought = await consult(THINKING, model, given, history=loop.work.history)
    except BudgetExceeded as error:
        return Done(state.stopping(stop_of(error)), None)
    return Done(state.adding(observations=thought.observations), thought)


async def _look_for_gaps(loop: Loop, state: LoopState, thought: Observations | None) -> State:
    """Say what is missing. Nothing is complete before the first search has been made."""
    model = loop.work.model
    gap: KnowledgeGapOutput | None = None
    if thought is not None and model is not None:
        given = KnowledgeGapInput(
            question=loop.plan.question,
            observations=thought.observations,
            findings=listed(state.findings),
        )
        place = f"iteration {state.now.number}"
        try:
            with loop.purse.looping.active(), scope(place), scope("knowledge_gap"):
                gap = await consult(KNOWLEDGE_GAP, model, given, history=loop.work.history)
        except BudgetExceeded as error:
            state = state.stopping(stop_of(error))
    if gap is None:  # the words of the question have to do
        is_searched = bool(state.rounds)
        queries = () if is_searched else keyword_queries(loop.plan.question)
        gap = KnowledgeGapOutput(research_complete=is_searched, gaps=list(queries))
    gaps = [gap for gap in gap.gaps if gap.strip()] or [loop.plan.question]
    complete = gap.research_complete and bool(state.rounds)
    gap = KnowledgeGapOutput(research_complete=complete, gaps=[] if complete else gaps)
    return Done(state.adding(complete=complete, gaps=tuple(gap.gaps)), gap)


def _continue(loop: Loop, state: LoopState, gap: KnowledgeGapOutput) -> str:
    """Go on searching, or write. A loop without room for a call searches once all the same."""
    del loop
    may_search = not state.stops or (not state.rounds and "time" not in state.stops)
    return "writer" if gap.research_complete or not may_search else "tool_selector"


async def _select_tools(loop: Loop, state: LoopState, gap: KnowledgeGapOutput) -> State:
    """Turn the gaps into searches; without room for a call they are searched for as they are."""
    model = loop.work.model
    plan: AgentSelectionPlan | None = None
    if model is not None and not state.stops:
        given = ToolSelectorInput(
            question=loop.plan.question,
            gaps=tuple(gap.gaps),
            adapters=loop.work.adapters.names,
            past=past_of(state),
        )
        place = f"iteration {state.now.number}"
        try:
            with loop.purse.looping.active(), scope(place), scope("tool_selector"):
                plan = await consult(TOOL_SELECTOR, model, given, history=loop.work.history)
        except BudgetExceeded as error:
            state = state.stopping(stop_of(error))
    if plan is None:
        tasks = [AgentTask(query=query) for gap in gap.gaps if (query := shortened(gap))]
        plan = AgentSelectionPlan(tasks=tasks[:4])
    tasks = tuple(Task(query=each.query, adapter=each.adapter or "") for each in plan.tasks)
    return Done(state.adding(tasks=tasks), plan)


async def _execute_tools(loop: Loop, state: LoopState, plan: AgentSelectionPlan) -> State:
    """Make every search, judge what is new, and put the iteration on record."""
    tasks, haul = state.now.tasks, Haul()
    await loop.tell("searching", f"{len(plan.tasks)} searches: {_told(tasks)}")
    calls = loop.purse.looping
    with calls.active(), scope(f"iteration {state.now.number}"):
        with calls.ledger.within_time() as limit:
            await search_all(loop, state, tasks, haul)
            found = f"{len(haul.documents)} documents that were not looked at before"
            await loop.tell("search_complete", found)
            if haul.documents and loop.work.model is not None:
                await loop.tell("judging", f"judging {len(haul.documents)} documents")
                await judge_all(loop, state, haul)
        if limit.cancelled_caught or calls.ledger.seconds_left == 0.0:
            state = state.stopping("time")
        elif not state.findings:
            haul.require_an_answer()
        findings = await findings_of(loop, state, haul)
    after = state.adding(
        findings=findings,
        seen=tuple(haul.documents),
        degraded=tuple(dict.fromkeys((*state.now.degraded, *haul.degraded))),
        seconds=time.monotonic() - loop.begun,
    )
    await record_round(loop, after.now)
    return Done(after.next_round(), findings)


def _told(tasks: tuple[Task, ...]) -> str:
    return ", ".join(task.query for task in tasks)[:200]
