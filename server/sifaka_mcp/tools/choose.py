"""`choose_version`: what a person says of a run, by the buttons of its page."""

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from sifaka.chain import choose_version as choose
from sifaka.chain import decline_issue
from sifaka.errors import ConfigurationError
from sifaka_mcp.schemas.runs import ImproveOut
from sifaka_mcp.tools.answer import ToolContext, answer_with_text, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.ui.apps import PRESSED


@define(
    title="Choose a version",
    description="Let a version stand because a person said so, as it is or with other words.",
    open_world=False,
    meta=PRESSED,
)
async def choose_version(
    ctx: ToolContext,
    run_id: str,
    version_id: str,
    text: Annotated[str, Field(description="in place of the version's words")] = "",
    reason: Annotated[str, Field(description="why what is left is declined")] = "",
    issue: Annotated[str, Field(description="the message of the one declined")] = "",
    quote: Annotated[str, Field(description="the words it is about")] = "",
) -> Annotated[CallToolResult, ImproveOut]:
    """See the tool's description."""
    state = state_of(ctx)
    chain = await state.chain_of(await state.store.load(run_id))
    if issue and text:
        raise ConfigurationError("an issue is of the version as it is", "leave out `text`")
    if issue:
        result = await decline_issue(chain, run_id, version_id, issue, quote, reason=reason)
    else:
        result = await choose(chain, run_id, version_id, text, reason=reason)
    return await answer_with_text(result)
