"""`resume_run` and `cancel_run`: wait for a run, go on with one, or stop one."""

from typing import Annotated

from mcp_types import CallToolResult, InputRequiredResult

from sifaka.chain import cancel_run as cancel
from sifaka_mcp.schemas.arguments import HowReturned, RunId, WaitSeconds
from sifaka_mcp.schemas.runs import ImproveOut
from sifaka_mcp.tools.answer import ToolContext, answer_with_text, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.work import RunRequest
from sifaka_mcp.ui.apps import SHOWN


@define(
    title="Resume a run",
    description="Wait for a `running` run; resume an interrupted one.",
    open_world=True,
    meta=SHOWN,
)
async def resume_run(
    run_id: RunId, ctx: ToolContext, wait_seconds: WaitSeconds = 45, returns: HowReturned = "auto"
) -> Annotated[CallToolResult, ImproveOut] | InputRequiredResult:
    """See the tool's description."""
    return await RunRequest.of(ctx, wait_seconds, returns).go_on(run_id)


@define(
    title="Cancel a run",
    description="Stop a run and get its best version.",
    open_world=False,
)
async def cancel_run(run_id: RunId, ctx: ToolContext) -> Annotated[CallToolResult, ImproveOut]:
    """See the tool's description."""
    state = state_of(ctx)
    await state.store.load(run_id)  # a run that the tenant may not see, it may not stop
    await state.runs.cancel(state.key(run_id))
    return await answer_with_text(await cancel(state.store, run_id), ctx=ctx)
