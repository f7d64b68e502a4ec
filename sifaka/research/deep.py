"""The deep graph: a plan, a loop for each section, and what they amount to together.

planner -> store_plan -> parallel_loops -> (one loop a section) -> collect_drafts -> synthesizer.
"""

import logging
from collections.abc import Sequence
from functools import cache

from sifaka.calls.failure_log import report_failure
from sifaka.calls.journal import scope
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError
from sifaka.research.agents.ask import consult
from sifaka.research.agents.planner import PLANNER, PlannerInput
from sifaka.research.agents.synthesizer import SYNTHESIZER, ReportDraft
from sifaka.research.drafts import tidied
from sifaka.research.graph import Done, Edge, Outcome, ParallelNode, ResearchGraph, StepNode
from sifaka.research.limits import stop_of
from sifaka.research.log import record_plan
from sifaka.research.outline import outline_of, outline_without_model
from sifaka.research.progress import Plan
from sifaka.research.report import body_of
from sifaka.research.resources import Work
from sifaka.research.sections import failed_section, research_branch
from sifaka.research.state import DeepState, Outline, Section, SectionPlan

logger = logging.getLogger(__name__)

State = Done[DeepState]
Item = tuple[int, SectionPlan]


@cache
def deep_graph() -> ResearchGraph[Work, DeepState]:
    """The graph of a report: it is given a question and gives the summary of the sections."""
    return ResearchGraph(
        name="deep",
        entry="planner",
        exits=("synthesizer",),
        nodes=(
            StepNode(id="planner", kind="agent", run=_plan),
            StepNode(id="store_plan", kind="state", run=_store_plan),
            ParallelNode(id="parallel_loops", over=_sections),
            StepNode(id="loop", kind="state", run=_research),
            StepNode(id="collect_drafts", kind="state", run=_collect_drafts),
            StepNode(id="synthesizer", kind="agent", run=_synthesize),
        ),
        edges=(
            Edge("planner", "store_plan"),
            Edge("store_plan", "parallel_loops"),
            Edge("parallel_loops", "loop", "parallel"),
            Edge("loop", "collect_drafts"),
            Edge("collect_drafts", "synthesizer"),
        ),
    )


async def _plan(work: Work, state: DeepState, question: str) -> State:
    """Make the outline; without a model, or room for a call, of the question's words."""
    most = work.inquiry.max_sections
    if work.progress.plan is not None:
        return Done(state, work.progress.plan.outline)
    if work.model is None:
        return Done(state, await outline_without_model(question, most))
    await work.desk.tell("thinking", "planning the sections")
    given = PlannerInput(question=question, most_sections=most)
    try:
        with scope("planner"):
            planned = await consult(PLANNER, work.model, given, history=work.history)
    except BudgetExceeded as error:
        outline = await outline_without_model(question, most)
        return Done(state, outline.model_copy(update={"stops": (stop_of(error),)}))
    return Done(state, outline_of(planned, most))


async def _store_plan(work: Work, state: DeepState, outline: Outline) -> State:
    """Put the outline on record, and set aside what its sections surely need."""
    if work.progress.plan is None:
        await record_plan(work, Plan(mode="deep", outline=outline))
    numbers = range(len(outline.sections))
    work.allot([n for n in numbers if n not in work.progress.sections], besides=1)
    return Done(state.model_copy(update={"outline": outline, "stops": outline.stops}), outline)


def _sections(work: Work, state: DeepState, outline: Outline) -> Sequence[Item]:
    del work, state
    return tuple(enumerate(outline.sections))


async def _research(work: Work, state: DeepState, item: Item) -> State:
    number, plan = item
    return Done(state, await research_branch(work, number, plan))


async def _collect_drafts(work: Work, state: DeepState, outcomes: Sequence[Outcome]) -> State:
    """The sections in the order of the outline, numbered throughout.

    Raises:
        SifakaError: Every section has failed.
    """
    assert state.outline is not None, "the plan was stored"
    sections: list[Section] = []
    for (number, plan), outcome in zip(enumerate(state.outline.sections), outcomes, strict=True):
        section = outcome.value
        if outcome.error is not None:
            section = failed_section(work, number, plan, outcome.error)
        sections.append(section)
    _refuse_nothing(sections)
    title = state.outline.title or work.question
    body, _ = body_of(sections)
    draft = ReportDraft(question=work.question, title=title, body=body)
    return Done(state.model_copy(update={"sections": tuple(sections)}), draft)


def _refuse_nothing(sections: Sequence[Section]) -> None:
    if any(section.status == "done" for section in sections):
        return
    told = "; ".join(f"{section.title!r}: {section.error}" for section in sections)
    codes = {section.code for section in sections}
    code = codes.pop() if len(codes) == 1 else None
    # Of a host that is asked no more: whoever can go on without its model does.
    if code in ModelProviderError.TRANSIENT or code == "unavailable":
        raise ModelProviderError(f"every section failed: {told}", "resume it later", code=code)
    raise SifakaError(f"every section failed: {told}", "mend what they tell, then resume the run")


async def _synthesize(work: Work, state: DeepState, draft: ReportDraft) -> State:
    """Sum the sections up; without a model, room for a call, or any reference there is nothing."""
    _, references = body_of(state.sections)
    if work.model is None or not references or len(state.sections) == 1:
        return Done(state, "")
    await work.desk.tell("synthesizing", f"summing up {len(state.sections)} sections")
    try:
        with work.to_synthesize(), scope("synthesizer"):
            said = await consult(SYNTHESIZER, work.model, draft, history=work.history)
    except BudgetExceeded as error:
        stops = (*state.stops, stop_of(error))
        return Done(state.model_copy(update={"stops": stops}), "")
    except ModelProviderError as error:
        # The sections are there: a report without a summary is better than none.
        report_failure(logger, "research:synthesizer", error, run_id=work.desk.run.run_id)
        degraded = (*state.degraded, f"the report has no summary: {error.message}")
        return Done(state.model_copy(update={"degraded": degraded}), "")
    return Done(state, tidied(said.summary, draft.title))
