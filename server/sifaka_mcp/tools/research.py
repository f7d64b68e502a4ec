"""`research`: a report on a question, out of the configured sources, as a run."""

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from sifaka.models import AUTO
from sifaka.record.research_question import Inquiry, ResearchMode
from sifaka.tasks.inquiry import MOST_ITERATIONS, MOST_SECTIONS, ready_to_research
from sifaka_mcp.schemas.arguments import BudgetLimits, HowReturned, ValidatorList, WaitSeconds
from sifaka_mcp.schemas.runs import ResearchOut, TurnList, turns_of
from sifaka_mcp.tools.answer import ToolContext
from sifaka_mcp.tools.awaited_run import RunRequest
from sifaka_mcp.tools.definition import define
from sifaka_mcp.ui.apps import SHOWN


@define(
    title="Research a question",
    description="Search the configured sources for a question and write a report that cites "
    "them. Answers like improve_text: `done`: use `text`; `running`: call resume_run; "
    "`needs_revision`: write the report from the evidence in `text` and call submit_revision.",
    idempotent=False,
    open_world=True,
    meta=SHOWN,
)
async def research(
    ctx: ToolContext,
    question: Annotated[str, Field(description="to answer in a report")],
    mode: Annotated[
        ResearchMode,
        Field(description="iterative: one loop of searches; deep: a plan, and a loop per section"),
    ] = "auto",
    history: Annotated[
        TurnList | None, Field(description="the conversation that led to the question")
    ] = None,
    adapters: Annotated[
        list[str] | None, Field(max_length=50, description="where to search; by default everywhere")
    ] = None,
    max_sections: Annotated[int, Field(ge=1, le=MOST_SECTIONS, description="of a deep report")] = 6,
    max_iterations: Annotated[
        int, Field(ge=1, le=MOST_ITERATIONS, description="rounds of searches in each loop")
    ] = 3,
    section_budget: Annotated[BudgetLimits, Field(description="of each section")] = None,
    budget: BudgetLimits = None,
    model: Annotated[
        str,
        Field(description="auto; caller: you write from the evidence; host; provider:name"),
    ] = "auto",
    validators: Annotated[
        ValidatorList | None, Field(description="what else the report has to pass")
    ] = None,
    tags: Annotated[list[str] | None, Field(description="to find it by")] = None,
    wait_seconds: WaitSeconds = 45,
    returns: HowReturned = "auto",
) -> Annotated[CallToolResult, ResearchOut]:
    """See the tool's description."""
    request = RunRequest.of(ctx, wait_seconds, returns)
    exchange = request.exchange
    if exchange.run_id is not None:
        return await request.go_on(exchange.run_id)
    chain = await request.state.chain(
        model=model,
        host=exchange.host,
        absent=exchange.absent,
        budget=budget,
        tags=tags or (),
        inquiry=Inquiry(
            mode=mode,
            history=turns_of(history),
            adapters=tuple(adapters or ()),
            max_sections=max_sections,
            max_iterations=max_iterations,
            section_budget=section_budget,
        ),
    )
    chain = ready_to_research(chain, question, *(validators or ()), is_chosen=model != AUTO)
    return await request.begin(chain, question)
