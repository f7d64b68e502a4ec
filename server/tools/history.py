"""`get_thought_history`: what happened in a run, which runs there were, where a text was."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.schemas.arguments import OptionalText
from server.schemas.history import HistoryOut, HitOut, RunLine, RunOut, ThoughtOut
from server.tools.answer import ToolContext, answer, state_of
from server.tools.definition import define
from server.view.text import history
from sifaka.errors import ConfigurationError
from sifaka.storage.protocol import ThoughtStore

_LONGEST_NUMBER = 9


async def get_thought_history(
    ctx: ToolContext,
    run_id: OptionalText = "",
    query: Annotated[OptionalText, Field(description="words to find in past texts")] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    cursor: Annotated[OptionalText, Field(description="next_cursor of the page before")] = "",
    include_text: bool = False,
) -> Annotated[CallToolResult, HistoryOut]:
    """See the tool's description."""
    out = await look_up(
        state_of(ctx).store,
        run_id=run_id,
        query=query,
        limit=limit,
        cursor=cursor,
        include_text=include_text,
    )
    return answer(history(out), out)


async def look_up(
    store: ThoughtStore, *, run_id: str, query: str, limit: int, cursor: str, include_text: bool
) -> HistoryOut:
    """A run's versions, the versions that match a query, or the recent runs."""
    if run_id and query:
        raise ConfigurationError("run_id and query exclude each other", "give one of them")
    if query and cursor:
        raise ConfigurationError("a search has one page", "raise the limit instead of a cursor")
    if run_id:
        return await timeline(store, run_id, limit, cursor, include_text=include_text)
    if query:
        found = await store.search(query, limit=limit)
        return HistoryOut(hits=[HitOut.of(hit) for hit in found.hits], search=found.search)
    page = await store.recent(limit=limit, cursor=cursor or None)
    return HistoryOut(
        runs=[RunLine.of(summary) for summary in page.runs], next_cursor=page.next_cursor
    )


async def timeline(
    store: ThoughtStore, run_id: str, limit: int, cursor: str, *, include_text: bool
) -> HistoryOut:
    """A page of a run's versions, oldest first; the cursor is the number of the next one."""
    if cursor and not (cursor.isdecimal() and len(cursor) < _LONGEST_NUMBER):
        raise ConfigurationError(
            f"unknown cursor {cursor[:20]!r}", "pass next_cursor as it was given"
        )
    run = await store.load(run_id)
    first = int(cursor or 0)
    page = run.thoughts[first : first + limit]
    following = first + len(page)
    return HistoryOut(
        run=RunOut.of(run),
        thoughts=[ThoughtOut.of(run, t, include_text=include_text) for t in page],
        next_cursor=str(following) if following < len(run.thoughts) else None,
    )


def tool() -> Tool:
    """The tool."""
    return define(
        get_thought_history,
        title="Look up past runs",
        description="With run_id: every version of the run, its verdicts, changes and why it was "
        "accepted or not. With query: past texts that match. With neither: recent runs.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )
