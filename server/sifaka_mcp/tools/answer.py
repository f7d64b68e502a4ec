"""Answers that stand alone twice: as text for a model, as data for a program."""

from typing import TYPE_CHECKING

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ResourceLink, TextContent
from pydantic import BaseModel

from sifaka_mcp.schemas.research import out_of
from sifaka_mcp.schemas.runs import ImproveOut, SubmitOut
from sifaka_mcp.schemas.texts import Return, TextOut
from sifaka_mcp.state import AppState
from sifaka_mcp.view.text import improvement

if TYPE_CHECKING:
    from sifaka.chain import RunResult

ToolContext = Context[AppState, object]
_LONG = 5_000
"""Characters of a text that is compared with another in a thread."""


def state_of(ctx: ToolContext) -> AppState:
    """The state of this server, as the tenant of the request sees it."""
    return ctx.request_context.lifespan_context.of_request()


def answer(text: str, data: BaseModel) -> CallToolResult:
    """The result of a tool. Hosts show their model either part; each says everything."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=data.model_dump(mode="json"),
    )


async def answer_with_text(
    result: "RunResult", how: Return = "auto", known: str | None = None
) -> CallToolResult:
    """The answer of a tool about a run, with as much of its text as the caller needs.

    A long text stands in one part alone, and the other links it, unless the caller asks for it.

    Args:
        result: The run, or one after a submission.
        how: As the caller wants the text.
        known: The text that the caller has; None for version 0, if that was given.
    """
    if known is None and (first := result.run.original) is not None and first.author == "input":
        known = first.text

    def made() -> ImproveOut:
        return out_of(result, TextOut.of(result, how, known))

    long = len(result.text) > _LONG  # comparing it takes longer than a thread takes to start
    out = await anyio.to_thread.run_sync(made) if long else made()
    is_linked = out.text_uri is not None and how != "text"
    told = improvement(out, is_linked=is_linked)
    if isinstance(out, SubmitOut):
        told = f"{'accepted' if out.accepted else 'turned down'}: {out.reason}\n{told}"
    answered = answer(told, out)
    if is_linked and out.text_uri is not None:
        size = len(result.text.encode("utf-8", "surrogatepass"))
        name = f"text of {out.thought_id}"
        link = ResourceLink(name=name, uri=out.text_uri, mime_type="text/plain", size=size)
        answered.content.append(link)
    return answered
