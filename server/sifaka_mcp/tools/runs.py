"""`get_thought_history`, `resume_run`, `cancel_run` and `choose_version`: the runs on record."""

from typing import Annotated

import anyio.to_thread
from mcp_types import CallToolResult
from pydantic import Field

from sifaka.chain import cancel_run as cancel
from sifaka.chain import choose_version as choose
from sifaka.chain import decline_issue
from sifaka.errors import ConfigurationError
from sifaka.tasks import look_up
from sifaka_mcp.schemas.arguments import HowReturned, RunId, WaitSeconds
from sifaka_mcp.schemas.history import HistoryOut
from sifaka_mcp.schemas.runs import ImproveOut
from sifaka_mcp.tools.answer import ToolContext, answer, answer_with_text, fitting, state_of
from sifaka_mcp.tools.awaited_run import RunRequest
from sifaka_mcp.tools.definition import define
from sifaka_mcp.ui.apps import PRESSED, SHOWN, view_of
from sifaka_mcp.view.text import history


@define(
    title="Look up past runs",
    description="With run_id: its versions, their verdicts, changes and fate. With query: past "
    "texts that match. With neither: recent runs.",
    read_only=True,
    open_world=False,
    meta=SHOWN,
)
async def get_thought_history(
    ctx: ToolContext,
    run_id: Annotated[str, Field(description="the run to look up")] = "",
    query: Annotated[str, Field(description="words; also tag:x passed:true since:7d")] = "",
    limit: Annotated[int, Field(ge=1, le=100, description="entries of a page")] = 10,
    cursor: Annotated[str, Field(description="`next_cursor` of the page before")] = "",
    include_text: Annotated[bool, Field(description="with the texts of versions")] = False,
) -> Annotated[CallToolResult, HistoryOut]:
    """See the tool's description."""
    state = state_of(ctx)
    results = await look_up(
        state.store,
        embeds=state.settings.embedding_model is not None,
        run_id=run_id,
        query=query,
        limit=limit,
        cursor=cursor,
    )
    out = HistoryOut.of(results, include_text=include_text)
    if out.thoughts:
        kept = fitting(out.thoughts)
        if kept < len(out.thoughts):
            out.thoughts, out.next_cursor = out.thoughts[:kept], str(int(cursor or 0) + kept)
    result = answer(history(out, as_data=True), out)
    if results.run is not None and not cursor:
        result.meta = await anyio.to_thread.run_sync(view_of, results.run)
    return result


@define(
    title="Resume a run",
    description="Wait for a `running` run; resume an interrupted one.",
    open_world=True,
    meta=SHOWN,
)
async def resume_run(
    run_id: RunId, ctx: ToolContext, wait_seconds: WaitSeconds = 45, returns: HowReturned = "auto"
) -> Annotated[CallToolResult, ImproveOut]:
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


@define(
    title="Choose a version",
    description="Keep a version because a person said so, as it is or with other words.",
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
