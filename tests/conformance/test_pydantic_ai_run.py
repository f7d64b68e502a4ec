"""A PydanticAI agent that works through a whole run as its writer, by the briefs."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.stubs.servers import http_server, stdio_server

pytestmark = pytest.mark.anyio

ASKED: Mapping[str, Any] = {
    "text": "You get your money back within 30 days.",
    "validators": [
        {"type": "content", "required": ["refund"]},
        {"type": "length", "max_words": 10},
    ],
    "critics": ["lint"],
    "model": "caller",
}


def revised(text: str, brief: Mapping[str, Any]) -> str:
    """What a model would write, by rules that know nothing but the brief."""
    suggestion = brief["failures"][0]["suggestions"][0]
    if missing := re.search(r"mention '(.+)'", suggestion):
        return f"{text} That is a {missing[1]}."
    surplus = re.search(r"cut (\d+) words?", suggestion)
    assert surplus, suggestion
    rest = " ".join(text.split(" ")[int(surplus[1]) :])
    return rest[0].upper() + rest[1:]


@asynccontextmanager
async def toolset(transport: Literal["stdio", "http"], home: Path) -> AsyncGenerator[MCPToolset]:
    if transport == "http":
        with http_server(home) as (url, _):
            yield MCPToolset(url, init_timeout=30)
        return
    server = stdio_server(home)
    child = StdioTransport(server.command, server.args, env=server.env, cwd=str(home))
    yield MCPToolset(child, init_timeout=30)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_an_agent_writes_every_version(
    transport: Literal["stdio", "http"], tmp_path: Path
) -> None:
    returned: list[Mapping[str, Any]] = []
    written: list[str] = [ASKED["text"]]

    def next_step(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        answers = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not answers:
            return ModelResponse(parts=[ToolCallPart("improve_text", dict(ASKED))])
        (answer,) = answers
        result: Any = answer.content
        returned.append(result)
        if answer.tool_name == "get_thought_history":
            return ModelResponse(parts=[TextPart("done")])
        named = {"run_id": result["run_id"]}
        if result["status"] == "done":
            return ModelResponse(parts=[ToolCallPart("get_thought_history", named)])
        brief = result["brief"]
        assert result["unchanged"] or result["text"], "a text that it does not have is told"
        version: dict[str, Any] = {"parent_id": brief["parent_id"], "accept": True}
        if not brief["sheet"]:
            written.append(revised(result["text"] or written[-1], brief))
            version = {"parent_id": brief["parent_id"], "text": written[-1]}
        return ModelResponse(parts=[ToolCallPart("submit_revision", {**named, **version})])

    async with (
        toolset(transport, tmp_path) as tools,
        Agent(FunctionModel(next_step), toolsets=[tools]) as agent,
    ):
        await agent.run("You promise refunds: say so in ten words.")
    *versions, history = returned
    assert [v["status"] for v in versions] == [*["needs_revision"] * 3, "done"]
    assert versions[-1]["unchanged"]
    assert written[-1] == "Your money back within 30 days. That is a refund."
    assert history["run"]["champion_id"] == versions[-1]["thought_id"]
    assert [thought["accepted"] for thought in history["thoughts"]] == [True, True, True]
