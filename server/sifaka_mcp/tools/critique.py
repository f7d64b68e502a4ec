"""`critique_text`: what the critics say about a text."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from sifaka.calls.host import Suspended
from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.arguments import BudgetLimits, OptionalText
from sifaka_mcp.schemas.reviews import CritiqueTextOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.view.text import critique


async def critique_text(
    text: str,
    ctx: ToolContext,
    critics: Annotated[
        list[str | dict[str, object]] | None, Field(description="as for improve_text")
    ] = None,
    prompt: Annotated[OptionalText, Field(description="what the text is for")] = "",
    model: Annotated[str, Field(description="auto, host or provider:name")] = "auto",
    budget: BudgetLimits = None,
) -> Annotated[CallToolResult, CritiqueTextOut] | InputRequiredResult:
    """See the tool's description."""
    from sifaka.tasks.criticism import review

    exchange = Exchange.of(ctx)
    chain = await state_of(ctx).chain(
        model=model, host=exchange.host, critics=critics, budget=budget
    )
    try:
        found = await review(chain, text, prompt, review_id=exchange.review_id)
    except Suspended as waiting:
        return exchange.ask(waiting)
    out = CritiqueTextOut.of(found)
    return answer(critique(out), out)


def tool() -> Tool:
    """The tool."""
    return define(
        critique_text,
        title="Criticise a text",
        description="What is wrong with a text and where, as issues that quote it. Without a "
        "model: mechanical issues and a rubric for you. Stores nothing.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )
