"""`validate_text` and `critique_text`: judgements of a text; they store nothing."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from sifaka.calls.host import Suspended
from sifaka.errors import ConfigurationError
from sifaka.tasks import validate
from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.arguments import AnyValidator, BudgetLimits, OptionalText
from sifaka_mcp.schemas.verdicts import CritiqueTextOut, ValidateOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.view.text import critique, verdicts


async def validate_text(
    text: str,
    ctx: ToolContext,
    validators: Annotated[list[AnyValidator], Field(max_length=50)],
    original: Annotated[OptionalText, Field(description="what `preserve` compares with")] = "",
) -> Annotated[CallToolResult, ValidateOut]:
    """See the tool's description."""
    if not text:
        raise ConfigurationError("the text is empty", "give the text to check")
    plugins = state_of(ctx).plugins
    out = ValidateOut.of(await validate(text, validators, original=original, plugins=plugins))
    return answer(verdicts(out.results, passed=out.passed), out)


def validate_tool() -> Tool:
    """The tool `validate_text`."""
    return define(
        validate_text,
        title="Validate a text",
        description="Check a text against rules, without a model: which pass, where and why the "
        "others fail, and the fix where one is certain. Stores nothing.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )


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


def critique_tool() -> Tool:
    """The tool `critique_text`."""
    return define(
        critique_text,
        title="Criticise a text",
        description="What is wrong with a text and where, as issues that quote it. Without a "
        "model: mechanical issues and a rubric for you. Stores nothing.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )
