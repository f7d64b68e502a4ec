"""Answers that stand alone twice: as text for a model, as data for a program."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from sifaka_mcp.state import AppState

if TYPE_CHECKING:
    from sifaka.chain import RunResult

ToolContext = Context[AppState, object]
Result = TypeVar("Result", bound="RunResult")
Out = TypeVar("Out", bound=BaseModel)
_LONG = 5_000
"""Characters of a text that takes longer to compare with the input than a thread takes to start."""


def state_of(ctx: ToolContext) -> AppState:
    """The state of this server, as the tenant of the request sees it."""
    return ctx.request_context.lifespan_context.of_request()


def answer(text: str, data: BaseModel) -> CallToolResult:
    """The result of a tool. Hosts show their model either part; each says everything."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=data.model_dump(mode="json"),
    )


async def wire_form(of: Callable[[Result], Out], result: Result) -> Out:
    """The wire form of a result, made in a thread where a long text is compared with its input."""
    if len(result.text) > _LONG:
        return await anyio.to_thread.run_sync(of, result)
    return of(result)
