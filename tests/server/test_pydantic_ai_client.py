"""A PydanticAI agent that uses our server through its own MCP client."""

from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.stubs.servers import stdio_server

pytestmark = pytest.mark.anyio


async def test_an_agent_calls_improve_text_and_gets_the_structured_result(tmp_path: Path) -> None:
    returned: list[Any] = []

    def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                returned.append(part.content)
                return ModelResponse(parts=[TextPart("done")])
        assert "improve_text" in {tool.name for tool in info.function_tools}
        text = "It is clear that the the bank will recieve it ."
        arguments = {"text": text, "model": "editor"}
        return ModelResponse(parts=[ToolCallPart("improve_text", arguments)])

    server = stdio_server(tmp_path)
    transport = StdioTransport(server.command, server.args, env=server.env, cwd=str(tmp_path))
    toolset = MCPToolset(transport, init_timeout=30)
    agent = Agent(FunctionModel(scripted), toolsets=[toolset])
    async with agent:
        await agent.run("improve it")
    (result,) = returned
    assert result["status"] == "done"
    assert result["text"] == "It is clear that the bank will receive it."
