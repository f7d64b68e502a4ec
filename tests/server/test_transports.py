"""The same over stdio and HTTP, in both eras; a killed server; raw lines; PydanticAI's client."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.transports import StdioTransport
from mcp import Client
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.commands import started
from tests.stubs.servers import (
    HELLO,
    Era,
    connected,
    heard,
    http_server,
    stdio_server,
    tell,
)

pytestmark = pytest.mark.anyio


TEXT = Path("server/sifaka_mcp/cli/announcement.md").read_text(encoding="utf-8")
RULES = [
    {"type": "length", "max_words": 300},
    {"type": "content", "prohibited": [{"term": "world-class", "replacement": "reliable"}]},
]


async def improve(client: Client) -> dict[str, Any]:
    return await call(client, "improve_text", text=TEXT, validators=RULES, model="editor")


def comparable(out: dict[str, Any]) -> dict[str, Any]:
    """What must be the same wherever the text was improved."""
    names = ("status", "text", "changed", "passed", "stop_reason", "iterations", "diff", "issues")
    return {name: out[name] for name in names}


@pytest.mark.slow
async def test_every_transport_and_era_gives_the_same_result(tmp_path: Path) -> None:
    eras: tuple[Era, ...] = ("auto", "legacy")
    async with connected("memory", "auto", tmp_path / "here") as client:
        expected = comparable(await improve(client))
    with http_server(tmp_path) as (url, _):
        for server in (url, stdio_server(tmp_path)):
            for era in eras:
                async with Client(server, mode=era) as client:
                    assert comparable(await improve(client)) == expected
    assert (expected["status"], expected["changed"]) == ("done", True)


@pytest.mark.slow
async def test_a_run_is_found_after_kill_9_and_from_a_second_server(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, process):
        async with Client(url) as client:
            run_id = (await improve(client))["run_id"]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=100)
    here = SifakaServer(Settings(home=tmp_path))
    async with Client(here) as again, Client(stdio_server(tmp_path)) as second:
        for client in (again, second):
            found = await call(client, "get_thought_history", run_id=run_id)
            assert found["run"]["status"] == "done"
            await call(client, "get_thought_history", query="announcement")


async def test_the_store_is_closed_with_the_server(tmp_path: Path) -> None:
    async with connected("memory", "auto", tmp_path) as client:
        await client.call_tool("improve_text", {"text": "A text."})
        assert (tmp_path / "sifaka.db-wal").exists()
    assert (tmp_path / "sifaka.db").exists()
    assert not (tmp_path / "sifaka.db-wal").exists(), "SQLite folds its log in when it is closed"


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


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with started(tmp_path, program="sifaka_mcp") as process:
        tell(process, HELLO)
        heard(process)
        yield process
        process.kill()


def answer(process: subprocess.Popen[bytes], line: str) -> dict[str, Any]:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()
    return heard(process)


def called(number: int, tool: str, **arguments: Any) -> str:
    """A line that calls a tool."""
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}


@pytest.mark.slow
def test_lines_that_are_no_messages_are_refused(server: subprocess.Popen[bytes]) -> None:
    # Half of a surrogate pair, under the id of its request.
    refused = answer(server, called(7, "improve_text", text="a\ud800b"))
    assert (refused["id"], refused["error"]["code"]) == (7, -32700)
    assert "\n" not in refused["error"]["message"]
    found = answer(server, called(8, "get_thought_history"))
    assert found["result"]["structuredContent"]["runs"] == []
    assert answer(server, "garbage")["error"]["code"] == -32700
    # Nested too deeply.
    nested = "[" * 5_000 + "]" * 5_000
    refused = answer(
        server,
        '{"jsonrpc": "2.0", "id": "a\\"b", "method": "tools/call", "params": '
        f'{{"name": "validate_text", "arguments": {{"text": "a", "validators": {nested}}}}}}}',
    )
    assert (refused["id"], refused["error"]["code"]) == ('a"b', -32700)
    assert answer(server, f'{{"params": {nested}, "id": 8}}')["error"]["code"] == -32700
    assert answer(server, json.dumps(PING)) == {"jsonrpc": "2.0", "id": 9, "result": {}}


@pytest.mark.slow
def test_a_byte_order_mark_is_no_part_of_a_message_and_a_batch_is_told_what_to_do(
    server: subprocess.Popen[bytes],
) -> None:
    assert answer(server, f"\ufeff{json.dumps(PING)}")["result"] == {}
    assert answer(server, "\ufeffnonsense")["error"]["code"] == -32700
    for mark in ("", "\ufeff"):
        refused = answer(server, mark + json.dumps([PING, PING]))
        assert refused["error"]["code"] == -32600
        assert "send each one by itself" in refused["error"]["message"]
