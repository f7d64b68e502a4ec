"""`validate_text`: every validator's verdict on a text."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from sifaka.errors import ConfigurationError
from sifaka.tasks import validate
from sifaka_mcp.schemas.arguments import AnyValidator, OptionalText
from sifaka_mcp.schemas.reviews import ValidateOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.view.text import verdicts


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


def tool() -> Tool:
    """The tool."""
    return define(
        validate_text,
        title="Validate a text",
        description="Check a text against rules, without a model: which pass, where and why the "
        "others fail, and the fix where one is certain. Stores nothing.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )
