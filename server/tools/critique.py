"""`critique_text`: what the critics say about a text."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.schemas.arguments import BudgetLimits, CriticList, OptionalText
from server.schemas.reviews import CritiqueTextOut
from server.schemas.verdicts import CritiqueOut, IssueOut, UsageOut
from server.tools.answer import ToolContext, answer, state_of
from server.tools.definition import define
from server.view.text import critique
from sifaka.brief import rubric_for
from sifaka.chain import Chain, asks_a_provider
from sifaka.errors import ConfigurationError
from sifaka.results import majority
from sifaka.texts import check_text
from sifaka.thought import Thought


async def critique_text(
    text: str,
    ctx: ToolContext,
    critics: CriticList = None,
    prompt: Annotated[OptionalText, Field(description="what the text is for")] = "",
    model: Annotated[str, Field(description="auto or provider:name")] = "auto",
    budget: BudgetLimits = None,
) -> Annotated[CallToolResult, CritiqueTextOut]:
    """See the tool's description."""
    chain = await state_of(ctx).chain(model=model, critics=critics, budget=budget)
    out = await review(chain, text, prompt)
    return answer(critique(out), out)


async def review(chain: Chain, text: str, prompt: str) -> CritiqueTextOut:
    """What the critics of a chain say about a text."""
    if not check_text(text).strip():
        raise ConfigurationError("the text is empty", "give the text to criticise")
    thought = Thought(text=text, prompt=check_text(prompt, "prompt"))
    found = await chain.critique(thought)
    return CritiqueTextOut(
        verdict=majority(found.feedback) or "undecided",
        issues=IssueOut.all_of(found.issues),
        critiques=[CritiqueOut.of(feedback) for feedback in found.feedback],
        rubric=None if asks_a_provider(chain.model) else list(rubric_for(thought)),
        usage=UsageOut.of(found.usage),
        degraded=list(found.degraded),
    )


def tool() -> Tool:
    """The tool."""
    return define(
        critique_text,
        title="Criticise a text",
        description="What is wrong with a text and where, as issues that quote it. Without a model "
        "configured: mechanical issues, plus a rubric for you to judge the rest by. Changes and "
        "stores nothing.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )
