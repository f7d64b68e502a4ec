"""`improve_text`: a text, better, or what is needed to make it so."""

from typing import Annotated, Literal

from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field

from sifaka.chain.configuration import Effort
from sifaka.models import AUTO
from sifaka.record.thought import EDITOR
from sifaka_mcp.schemas.arguments import (
    BudgetLimits,
    CriticList,
    HowReturned,
    ValidatorList,
    WaitSeconds,
)
from sifaka_mcp.schemas.runs import ImproveOut
from sifaka_mcp.tools.answer import ToolContext
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.source import text_of
from sifaka_mcp.tools.work import RunRequest
from sifaka_mcp.ui.apps import SHOWN


@define(
    title="Improve a text",
    description="Improve or write a text by validators and critics. "
    "`done`: use `text`, tell what is `left`. "
    "`needs_revision`: write the next version by `brief` and call submit_revision. `running`: "
    "call resume_run.",
    idempotent=False,
    open_world=True,
    meta=SHOWN,
    one_of=("text", "source", "prompt"),
)
async def improve_text(
    ctx: ToolContext,
    text: Annotated[str, Field(description="the text to improve")] = "",
    source: Annotated[str, Field(description="or the URI or path of the text")] = "",
    prompt: Annotated[
        str, Field(description="the task in words; without a text, what to write")
    ] = "",
    validators: ValidatorList | None = None,
    critics: CriticList = None,
    effort: Annotated[
        Effort, Field(description="how many versions are tried and how they are judged")
    ] = "standard",
    max_iterations: Annotated[
        int | None, Field(ge=0, le=50, description="or exactly how many versions")
    ] = None,
    budget: BudgetLimits = None,
    model: Annotated[
        str,
        Field(
            description="who writes: auto (what the server has, else you), editor (mechanics "
            "only), caller (you), host (your client's model), provider:name"
        ),
    ] = "auto",
    fixes: Annotated[
        Literal["auto", "none", "safe", "suggested"],
        Field(description="the editor's fixes that are made; auto only proposes them"),
    ] = "auto",
    facts: Annotated[
        Literal["ask", "require", "off"],
        Field(
            description="what becomes of facts that a version changes: ask you, refuse or ignore"
        ),
    ] = "ask",
    tags: Annotated[list[str] | None, Field(description="words to find the run by")] = None,
    remember: Annotated[
        int, Field(ge=0, le=20, description="how many similar past runs to learn from")
    ] = 0,
    wait_seconds: WaitSeconds = 45,
    returns: HowReturned = "auto",
) -> Annotated[CallToolResult, ImproveOut] | InputRequiredResult:
    """See the tool's description."""
    request = RunRequest.of(ctx, wait_seconds, returns)
    state, exchange = request.state, request.exchange
    if exchange.run_id is not None:
        return await request.go_on(exchange.run_id)
    found = await text_of(ctx, text, source)
    if isinstance(found, InputRequiredResult):
        return found
    writer = state.settings.model if model == AUTO else model
    chain = await state.chain(
        model=model,
        host=exchange.host,
        absent=exchange.absent,
        validators=validators or (),
        critics=critics,
        effort=effort,
        max_iterations=max_iterations,
        budget=budget,
        fixes="none" if fixes == "auto" and writer != EDITOR else fixes,
        facts=facts,
        tags=tags or (),
        remember=remember,
    )
    return await request.begin(chain, prompt, text=found)
