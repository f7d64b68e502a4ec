"""`improve_text`: a text, better, or what is needed to make it so."""

from typing import Annotated, Literal

import anyio
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from sifaka.chain.presets import Effort
from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.arguments import (
    AnyValidator,
    BudgetLimits,
    CriticList,
    HowReturned,
    OptionalText,
    WaitSeconds,
)
from sifaka_mcp.schemas.runs import ImproveOut
from sifaka_mcp.tools.answer import ToolContext, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.work import answer_of_run, begin


async def improve_text(
    ctx: ToolContext,
    text: OptionalText = "",
    prompt: Annotated[
        OptionalText, Field(description="the task; alone, the text is written from it")
    ] = "",
    validators: Annotated[
        list[AnyValidator] | None,
        Field(description="what to pass; `required` (in content must_pass): false is advice"),
    ] = None,
    critics: CriticList = None,
    effort: Effort = "standard",
    max_iterations: Annotated[int | None, Field(ge=0, le=50)] = None,
    budget: BudgetLimits = None,
    model: Annotated[
        str,
        Field(
            description="auto; editor: safe edits only; caller: you write; host: by sampling; "
            "provider:name"
        ),
    ] = "auto",
    fixes: Literal["safe", "suggested"] = "safe",
    facts: Literal["require", "warn", "off"] = "require",
    tags: Annotated[list[str] | None, Field(description="to find the run by")] = None,
    remember: Annotated[int, Field(ge=0, le=20, description="past runs to learn from")] = 0,
    wait_seconds: WaitSeconds = 45,
    returns: HowReturned = "auto",
) -> Annotated[CallToolResult, ImproveOut] | InputRequiredResult:
    """See the tool's description."""
    until = anyio.current_time() + wait_seconds
    state, exchange = state_of(ctx), Exchange.of(ctx)
    if exchange.run_id is not None:
        return await answer_of_run(
            ctx, exchange.run_id, exchange, wait_seconds=wait_seconds, returns=returns
        )
    chain = await state.chain(
        model=model,
        host=exchange.host,
        validators=validators or (),
        critics=critics,
        effort=effort,
        max_iterations=max_iterations,
        budget=budget,
        fixes=fixes,
        facts=facts,
        tags=tags or (),
        remember=remember,
    )
    return await begin(ctx, chain, exchange, prompt, text=text, until=until, returns=returns)


def tool() -> Tool:
    """The tool."""
    return define(
        improve_text,
        title="Improve a text",
        description="Improve a text (or write one) until it passes the validators and satisfies "
        "the critics. Never returns anything worse than the input. `done`: use `text`, tell what "
        "is `left`. `needs_revision`: write the next version by `brief` and call "
        "submit_revision. `running`: call resume_run.",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=False,
            open_world_hint=True,
        ),
    )
