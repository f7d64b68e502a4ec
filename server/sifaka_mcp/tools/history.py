"""`get_thought_history`: what happened in a run, which runs there were, where a text was."""

from typing import Annotated

import anyio.to_thread
from mcp_types import CallToolResult
from pydantic import Field

from sifaka.tasks import look_up
from sifaka_mcp.schemas.history import HistoryOut
from sifaka_mcp.tools.answer import ToolContext, answer, fitting, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.ui.apps import SHOWN, view_of
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
    found = await look_up(
        state.store,
        embeds=state.settings.embedding_model is not None,
        run_id=run_id,
        query=query,
        limit=limit,
        cursor=cursor,
    )
    out = HistoryOut.of(found, include_text=include_text)
    if out.thoughts:
        kept = fitting(out.thoughts)
        if kept < len(out.thoughts):
            out.thoughts, out.next_cursor = out.thoughts[:kept], str(int(cursor or 0) + kept)
    result = answer(history(out, as_data=True), out)
    if found.run is not None and not cursor:
        result.meta = await anyio.to_thread.run_sync(view_of, found.run)
    return result
