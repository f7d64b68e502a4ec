"""Answers that stand alone twice: as text for a model, as data for a program."""

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from sifaka_mcp.state import AppState

ToolContext = Context[AppState, object]


def state_of(ctx: ToolContext) -> AppState:
    """The state of this server, as the tenant of the request sees it."""
    return ctx.request_context.lifespan_context.of_request()


def answer(text: str, data: BaseModel) -> CallToolResult:
    """The result of a tool. Hosts show their model either part; each says everything."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=data.model_dump(mode="json"),
    )
