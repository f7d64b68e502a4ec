"""Answers that stand alone twice: as text for a model, as data for a program."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ResourceLink, TextContent
from pydantic import BaseModel

from sifaka_mcp.host.session import warn
from sifaka_mcp.schemas.research import out_of
from sifaka_mcp.schemas.runs import RunAnswer
from sifaka_mcp.schemas.texts import Return, TextOut
from sifaka_mcp.state import AppState
from sifaka_mcp.tools.structured import plain, within
from sifaka_mcp.view.text import improvement

if TYPE_CHECKING:
    from sifaka.chain import RunResult

T = TypeVar("T")
ToolContext = Context[AppState, object]
_LONG = 1_000
"""Characters of a text from which the answer about it is made in a thread."""


def state_of(ctx: ToolContext) -> AppState:
    """The state of this server, as the tenant of the request sees it."""
    return ctx.request_context.lifespan_context.of_request()


async def beside_the_loop(make: Callable[[], T], *, if_long: bool) -> T:
    """What a function makes: in a thread where that takes longer than a thread to start.

    Differences and long lists of issues would hold up all other requests.
    """
    return await anyio.to_thread.run_sync(make) if if_long else make()


def answer(text: str, data: BaseModel) -> CallToolResult:
    """The result of a tool. Hosts show their model either part; each says what is needed."""
    content, left_out = within(plain(data.model_dump(mode="json")))
    if left_out:
        content.setdefault("degraded", []).extend(left_out)
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join([text, *left_out]))],
        structured_content=content,
    )


async def answer_with_text(
    result: "RunResult",
    how: Return = "auto",
    known: str | None = None,
    *,
    ctx: ToolContext | None = None,
) -> CallToolResult:
    """The answer of a tool about a run, with as much of its text as the caller needs.

    A long text stands in one part alone, and the other links it, unless the caller asks for it.

    Args:
        result: The run, or one after a submission.
        how: As the caller wants the text.
        known: The text that the caller has; None for version 0, if that was given.
        ctx: The request, whose client may want to be sent warnings.
    """
    if known is None and (first := result.run.original) is not None and first.author == "input":
        known = first.text

    if ctx is not None:
        await warn(ctx, result.degraded)

    def made() -> RunAnswer:
        return out_of(result, TextOut.of(result, how, known))

    out = await beside_the_loop(made, if_long=len(result.text) > _LONG)
    is_linked = out.text_uri is not None and how != "text"
    answered = answer(improvement(out, is_linked=is_linked), out)
    if is_linked and out.text_uri is not None:
        size = len(result.text.encode("utf-8", "surrogatepass"))
        name = f"text of {out.thought_id}"
        link = ResourceLink(name=name, uri=out.text_uri, mime_type="text/plain", size=size)
        answered.content.append(link)
    return answered
