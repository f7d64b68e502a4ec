"""`get_thought_history`: what happened in a run, which runs there were, where a text was."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from sifaka.errors import ConfigurationError
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.query import parse_query
from sifaka_mcp.schemas.arguments import OptionalText
from sifaka_mcp.schemas.history import HistoryOut, HitOut, RunLine, RunOut, ThoughtOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.view.text import history

_LONGEST_NUMBER = 9


async def get_thought_history(
    ctx: ToolContext,
    run_id: OptionalText = "",
    query: Annotated[
        OptionalText, Field(description="words of past texts; also tag:x passed:true since:7d")
    ] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    cursor: Annotated[OptionalText, Field(description="next_cursor of the page before")] = "",
    include_text: bool = False,
) -> Annotated[CallToolResult, HistoryOut]:
    """See the tool's description."""
    state = state_of(ctx)
    out = await look_up(
        state.store,
        embeds=state.settings.embedding_model is not None,
        run_id=run_id,
        query=query,
        limit=limit,
        cursor=cursor,
        include_text=include_text,
    )
    return answer(history(out, as_data=True), out)


async def look_up(
    store: ThoughtStore,
    *,
    embeds: bool,
    run_id: str,
    query: str,
    limit: int,
    cursor: str,
    include_text: bool,
) -> HistoryOut:
    """A run's versions, the versions that match a query, or the recent runs.

    Args:
        store: Where to look.
        embeds: Whether an embedding model is configured.
        run_id: Whose versions to give.
        query: What to search for, in the language of `parse_query`.
        limit: The most to give.
        cursor: Where the page begins.
        include_text: Whether versions come with their texts.

    Raises:
        ConfigurationError: The arguments exclude each other, or one of them is wrong.
        ThoughtNotFound: There is no such run.
    """
    if run_id and query:
        raise ConfigurationError("run_id and query exclude each other", "give one of them")
    if query and cursor:
        raise ConfigurationError("a search has one page", "raise the limit instead of a cursor")
    out = await _found(store, run_id, query, limit, cursor, include_text=include_text)
    kind = None if out.search is None else _kind(out.search, embeds=embeds)
    return out.model_copy(update={"search": kind, "degraded": list(store.degraded)})


async def _found(
    store: ThoughtStore, run_id: str, query: str, limit: int, cursor: str, *, include_text: bool
) -> HistoryOut:
    if run_id:
        return await timeline(store, run_id, limit, cursor, include_text=include_text)
    if query:
        words, only = parse_query(query)
        found = await store.search(words, limit=limit, only=only)
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


def _kind(search: str, *, embeds: bool) -> str:
    """How a search was made, and why not by meaning when it was not."""
    if search.startswith(("hybrid", "dense")) or "semantic:" in search:
        return search
    why = "this store keeps no vectors" if embeds else "no embedding model configured"
    return f"{search}, semantic: disabled ({why})"


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
