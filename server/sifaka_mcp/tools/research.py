"""`research`: a report on a question, out of the configured sources, as a run."""

from collections.abc import Mapping
from typing import Annotated

import anyio
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from sifaka.chain import Chain, asks_a_provider
from sifaka.errors import ConfigurationError
from sifaka.evidence.planner import checked_question
from sifaka.models import AUTO, CALLER, HOST
from sifaka.record.inquiry import Inquiry, ResearchMode
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Budget
from sifaka.validators.protocol import Validator
from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.arguments import AnyValidator, BudgetLimits
from sifaka_mcp.schemas.research import ResearchOut
from sifaka_mcp.tools.answer import ToolContext, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.work import answer_of_run, work_on

MOST_SECTIONS = 12
MOST_ITERATIONS = 20


async def research(
    ctx: ToolContext,
    question: str,
    mode: Annotated[
        ResearchMode,
        Field(description="iterative: one loop of searches; deep: a plan, and a loop per section"),
    ] = "auto",
    adapters: Annotated[
        list[str] | None, Field(max_length=50, description="where to search; by default everywhere")
    ] = None,
    max_sections: Annotated[int, Field(ge=1, le=MOST_SECTIONS)] = 6,
    max_iterations: Annotated[
        int, Field(ge=1, le=MOST_ITERATIONS, description="rounds of searches in each loop")
    ] = 3,
    section_budget: BudgetLimits = None,
    budget: BudgetLimits = None,
    model: Annotated[
        str,
        Field(description="auto; caller: you write from the evidence; host; provider:name"),
    ] = "auto",
    validators: Annotated[
        list[AnyValidator] | None, Field(description="what else the report has to pass")
    ] = None,
    tags: list[str] | None = None,
    wait_seconds: Annotated[float, Field(ge=0, le=3600, description="then answers `running`")] = 45,
) -> Annotated[CallToolResult, ResearchOut] | InputRequiredResult:
    """See the tool's description."""
    until = anyio.current_time() + wait_seconds
    state, exchange = state_of(ctx), Exchange.of(ctx)
    if exchange.run_id is not None:
        return await answer_of_run(ctx, exchange.run_id, exchange, wait_seconds=wait_seconds)
    chain = await state.chain(
        model=model,
        host=exchange.host,
        budget=budget,
        tags=tags or (),
        inquiry=Inquiry(
            mode=mode,
            adapters=tuple(adapters or ()),
            max_sections=max_sections,
            max_iterations=max_iterations,
            section_budget=section_budget,
        ),
    )
    chain = ready_to_research(chain, question, *(validators or ()), is_chosen=model != AUTO)
    with state.jobs.room(state.tenant):
        handle = await chain.start(question)
    left = max(0.0, until - anyio.current_time())
    return await work_on(ctx, handle.run, handle.work, exchange, wait_seconds=left)


def ready_to_research(
    chain: Chain,
    question: str,
    *validators: Validator | Mapping[str, object],
    is_chosen: bool = True,
) -> Chain:
    """A chain with an inquiry as it researches a question and checks the report.

    The report has to be complete, and its claims are held against the documents it was written
    from: with a model a contradicted one has to be mended, without one nobody can judge them and
    that is advice. Where the host's model cannot be asked, or the editor was configured and nobody
    chose it, the caller writes.

    Args:
        chain: What to research with.
        question: What is to be found out.
        *validators: What else the report has to pass.
        is_chosen: Whether the model was asked for, rather than configured.

    Raises:
        ConfigurationError: The question is empty, the model cannot research, or the budget leaves
            no call to a model that is to.
    """
    if not question.strip():
        raise ConfigurationError("the question is empty", "say what is to be found out")
    checked_question(question)  # before a run is made of it
    if chain.model == EDITOR and is_chosen:
        raise ConfigurationError(
            "the editor cannot research a question", "use model=caller or provider:name"
        )
    if chain.model == EDITOR or (chain.model == HOST and chain.host is None):
        chain = chain.with_model(CALLER)
    has_model = asks_a_provider(chain.model)
    if has_model:
        _check_room("budget", chain.budget)
        _check_room("section_budget", chain.inquiry and chain.inquiry.section_budget)
    evidence = {"type": "evidence", "search": False, "required": has_model}
    return chain.validate_with({"type": "report"}, *validators, evidence)


def _check_room(name: str, budget: Budget | None) -> None:
    for limit in ("max_calls", "max_tokens", "max_cost_usd"):
        if budget is not None and getattr(budget, limit) == 0:
            raise ConfigurationError(
                f"{name}.{limit}=0 leaves no call to a model",
                "raise it, or use model=caller, which takes none",
            )


def tool() -> Tool:
    """The tool."""
    return define(
        research,
        title="Research a question",
        description="Search the configured sources for a question and write a report that cites "
        "them. Answers like improve_text: `done`: use `text`; `running`: call resume_run; "
        "`needs_revision`: write the report from the evidence in `text` and call submit_revision.",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=False,
            open_world_hint=True,
        ),
    )
