"""`resume_run`: wait for a run that goes on, or go on with one that was interrupted."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations

from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.runs import ImproveOut
from sifaka_mcp.tools.answer import ToolContext
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.work import answer_of_run
from sifaka_mcp.ui.apps import SHOWN


async def resume_run(
    run_id: str, ctx: ToolContext, wait_seconds: float = 45
) -> Annotated[CallToolResult, ImproveOut] | InputRequiredResult:
    """See the tool's description."""
    exchange = Exchange.of(ctx)
    return await answer_of_run(ctx, run_id, exchange, wait_seconds=wait_seconds)


def tool() -> Tool:
    """The tool."""
    return define(
        resume_run,
        title="Resume a run",
        description="Wait for a `running` run; resume an interrupted one.",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=True,
        ),
        meta=SHOWN,
    )
