"""Calls of tools whose answer has to come within seconds."""

from typing import Any

import anyio
from mcp import Client

from tests.stubs.sampling_client import data, error

_SECONDS = 20


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured part of what a tool answers."""
    with anyio.fail_after(_SECONDS):
        return data(await client.call_tool(tool, arguments))


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The words in which a tool refuses."""
    with anyio.fail_after(_SECONDS):
        return error(await client.call_tool(tool, arguments))
