"""The deep graph: a plan, a section for each of its questions, and a summary of them.

planner -> store_plan -> parallel_loops -> (one loop a section) -> collect_drafts -> long_writer ->
synthesizer.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from anyio import CapacityLimiter
from pydantic_graph import Graph, GraphBuilder, StepContext, reduce_list_append

from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError, StorageError, code_of
from sifaka.research.agents import (
    PLANNER,
    SYNTHESIZER,
    PlannedSection,
    Summary,
    consult,
    planner_prompt,
    synthesizer_prompt,
)
from sifaka.research.draft import in_context, tidied
from sifaka.research.iterative import research_section
from sifaka.research.progress import Work, leaving_one, record_plan, record_section
from sifaka.research.report import (
    Report,
    body_of,
    heading,
    outline_of,
    outline_of_one,
    outline_without_model,
)
from sifaka.research.state import Outline, ReportSection, Stop, stop_of

logger = logging.getLogger(__name__)

Branch: TypeAlias = tuple[int, PlannedSection]
Ended: TypeAlias = ReportSection | Suspended


@dataclass(slots=True)
class DeepState:
    """The state of one run of the graph."""

    slots: CapacityLimiter
    """The sections that may be researched at the same time."""
    outline: Outline = field(default_factory=Outline)
    degraded: tuple[str, ...] = ()
    """Lines about the long writer."""


async def research_report(work: Work) -> Report:
    """Research a question section by section.

    Raises:
        SifakaError: Every section has failed.
        StorageError: A step could not be put on record; the other sections are cancelled.
        Suspended: Sections wait for answers of the host; the others have ended.
    """
    return await deep_graph().run(
        state=DeepState(CapacityLimiter(work.inquiry.parallel)), deps=work, inputs=work.question
    )


@cache
def deep_graph() -> Graph[DeepState, Work, str, Report]:
    """The graph of a report."""
    graph = GraphBuilder(
        name="deep",
        state_type=DeepState,
        deps_type=Work,
        input_type=str,
        output_type=Report,
        auto_instrument=False,
    )
    planner = graph.step(_plan, node_id="planner")
    store_plan = graph.step(_store_plan, node_id="store_plan")
    loop = graph.step(_research, node_id="loop")
    joined = graph.join(
        reduce_list_append, initial_factory=list[Ended], node_id="parallel_loops_joined"
    )
    collect_drafts = graph.step(_collect_drafts, node_id="collect_drafts")
    long_writer = graph.step(_write_in_context, node_id="long_writer")
    synthesizer = graph.step(_synthesize, node_id="synthesizer")
    graph.add(
        graph.edge_from(graph.start_node).to(planner),
        graph.edge_from(planner).to(store_plan),
        graph.edge_from(store_plan)
        .map(fork_id="parallel_loops", downstream_join_id=joined.id)
        .to(loop),
        graph.edge_from(loop).to(joined),
        graph.edge_from(joined).to(collect_drafts),
        graph.edge_from(collect_drafts).to(long_writer),
        graph.edge_from(long_writer).to(synthesizer),
        graph.edge_from(synthesizer).to(graph.end_node),
    )
    return graph.build()


async def _plan(ctx: StepContext[DeepState, Work, str]) -> Outline:
    """Make the outline; without a model, or room for a call, of the question's words."""
    work, question = ctx.deps, ctx.inputs
    most = work.inquiry.max_sections
    if work.progress.plan is not None:
        return work.progress.plan.outline
    if work.model is None:
        return await outline_without_model(question, most)
    await work.desk.tell("thinking", "planning the sections")
    try:
        return outline_of(
            await consult(
                PLANNER, work.model, planner_prompt(question, most), history=work.history
            ),
            most,
        )
    except BudgetExceeded as error:
        outline = await outline_without_model(question, most)
        return outline.model_copy(update={"stops": (stop_of(error),)})
    except ModelProviderError as error:
        # The model has answered, twice, and named no section.
        if error.error_code != "malformed":
            raise
        report_failure(logger, "research:planner", error, run_id=work.desk.run.run_id)
        return outline_of_one(question, f"the plan could not be read: {error.message}")


async def _store_plan(ctx: StepContext[DeepState, Work, Outline]) -> Sequence[Branch]:
    """Put the outline on record, and set aside the calls that its sections surely need."""
    work, outline = ctx.deps, ctx.inputs
    if work.progress.plan is None:
        await record_plan(work, outline)
    sections = tuple(enumerate(outline.sections))
    work.allot([n for n, _ in sections if n not in work.progress.sections], besides=1)
    ctx.state.outline = outline
    return sections


async def _research(ctx: StepContext[DeepState, Work, Branch]) -> Ended:
    """Research one section; a failure of it ends no other section, and is on record."""
    work, (number, plan) = ctx.deps, ctx.inputs
    async with ctx.state.slots:
        try:
            return await research_section(work, number, plan, part_of=work.question)
        except StorageError:
            raise
        except Suspended as waiting:
            return waiting
        # Its cause may be anything, a bug included; it is reported.
        except Exception as error:  # noqa: BLE001
            report_failure(logger, "research:section", error, run_id=work.desk.run.run_id)
            section = ReportSection(
                number=number,
                title=plan.title,
                status="failed",
                error=error.message if isinstance(error, SifakaError) else type(error).__name__,
                code=code_of(error),
                attempt=work.desk.run.failures,
            )
        await record_section(work.desk, section)
        return section


async def _collect_drafts(
    ctx: StepContext[DeepState, Work, list[Ended]],
) -> tuple[ReportSection, ...]:
    """The sections in the order of the outline: they arrive in the order of their ends."""
    if waiting := [each for each in ctx.inputs if isinstance(each, Suspended)]:
        raise Suspended.together(waiting)
    ended = (each for each in ctx.inputs if isinstance(each, ReportSection))
    sections = tuple(sorted(ended, key=lambda each: each.number))
    if any(section.status == "done" for section in sections):
        return sections
    lines = "; ".join(f"{section.title!r}: {section.error}" for section in sections)
    codes = {section.code for section in sections}
    code = codes.pop() if len(codes) == 1 else None
    # After `unavailable` a chain whose caller may write goes on without the host's model.
    if code in ModelProviderError.TRANSIENT or code == "unavailable":
        raise ModelProviderError(
            f"every section failed: {lines}", "resume it later", error_code=code
        )
    raise SifakaError(f"every section failed: {lines}", "mend what they tell, then resume the run")


Sections: TypeAlias = tuple[ReportSection, ...]


async def _write_in_context(ctx: StepContext[DeepState, Work, Sections]) -> Sections:
    """Have the sections follow from each other, where advisers may be asked."""
    if not ctx.deps.advisers:
        return ctx.inputs
    # The last call is for the summary.
    with leaving_one(ctx.deps.calls).active():
        sections, ctx.state.degraded = await in_context(ctx.deps, ctx.inputs)
    return sections


async def _synthesize(ctx: StepContext[DeepState, Work, Sections]) -> Report:
    """Sum the sections up; there is no summary without a model, room for a call, or references."""
    work, outline, sections = ctx.deps, ctx.state.outline, ctx.inputs
    body, documents = body_of(sections)
    title, summary = outline.title or work.question, ""
    stops: tuple[Stop, ...] = outline.stops
    degraded = (*outline.degraded, *ctx.state.degraded)
    if work.model is not None and documents and len(sections) > 1:
        await work.desk.tell("synthesizing", f"summing up {len(sections)} sections")
        answer = await work.advice(SYNTHESIZER, synthesizer_prompt(work.question, body))
        if isinstance(answer, Summary):
            summary = tidied(answer.summary, title)
        elif isinstance(answer, BudgetExceeded):
            stops = (*stops, stop_of(answer))
        else:
            degraded = (*degraded, f"the report has no summary: {answer.message}")
    return Report(
        mode="deep",
        title=outline.title or heading(work.question),
        summary=summary,
        sections=sections,
        stops=stops,
        degraded=degraded,
    )
