"""`critique_text`: what the critics say about a text."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from sifaka.calls.host import Suspended
from sifaka.chain import Chain, asks_a_provider
from sifaka.chain.brief import rubric_for
from sifaka.errors import ConfigurationError
from sifaka.models import HOST
from sifaka.record.results import majority
from sifaka.record.thought import Thought, new_run_id
from sifaka.text.input import check_text
from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.arguments import BudgetLimits, CriticList, OptionalText
from sifaka_mcp.schemas.reviews import CritiqueTextOut
from sifaka_mcp.schemas.verdicts import CritiqueOut, IssueOut, UsageOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.view.text import critique


async def critique_text(
    text: str,
    ctx: ToolContext,
    critics: CriticList = None,
    prompt: Annotated[OptionalText, Field(description="what the text is for")] = "",
    model: Annotated[str, Field(description="auto, host or provider:name")] = "auto",
    budget: BudgetLimits = None,
) -> Annotated[CallToolResult, CritiqueTextOut] | InputRequiredResult:
    """See the tool's description."""
    exchange = Exchange.of(ctx)
    chain = await state_of(ctx).chain(
        model=model, host=exchange.host, critics=critics, budget=budget
    )
    try:
        out = await review(chain, text, prompt, exchange.review_id)
    except Suspended as waiting:
        return exchange.ask(waiting)
    return answer(critique(out), out)


async def review(
    chain: Chain, text: str, prompt: str, review_id: str | None = None
) -> CritiqueTextOut:
    """What the critics of a chain say about a text.

    Args:
        chain: Whose critics are asked.
        text: The text.
        prompt: What it is for.
        review_id: A secret that stands for a run: reviews under the same one ask the same.
    """
    if not check_text(text).strip():
        raise ConfigurationError("the text is empty", "give the text to criticise")
    run_id = review_id or new_run_id()
    thought = Thought(text=text, prompt=check_text(prompt, "prompt"), run_id=run_id)
    found = await chain.critique(thought, frame_key=run_id)
    return CritiqueTextOut(
        verdict=majority(found.feedback) or "undecided",
        issues=IssueOut.all_of(found.issues),
        critiques=[CritiqueOut.of(feedback) for feedback in found.feedback],
        rubric=None if _is_judged(chain) else list(rubric_for(thought)),
        usage=UsageOut.of(found.usage),
        degraded=list(found.degraded),
    )


def _is_judged(chain: Chain) -> bool:
    """Whether a model judges the text, so that the caller need not."""
    return chain.host is not None if chain.model == HOST else asks_a_provider(chain.model)


def tool() -> Tool:
    """The tool."""
    return define(
        critique_text,
        title="Criticise a text",
        description="What is wrong with a text and where, as issues that quote it. Without a model "
        "configured: mechanical issues and a rubric for you. Stores nothing.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )
