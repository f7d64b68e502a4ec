"""Requests with an idempotency key: sent twice, they are one run, paid once."""

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host.sampling import KEY_META
from sifaka_mcp.settings import Settings
from tests.stubs.provider import Gate, provider, says, told_of
from tests.stubs.served import client_of, grant_token, served
from tests.stubs.servers import Era, http_server

pytestmark = pytest.mark.anyio
MODEL = "openai-chat:stub"
ARGUMENTS: dict[str, Any] = {
    "text": "x",
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": MODEL,
    "critics": ["lint"],
}
KEY: Any = {KEY_META: "8e03978e-40d5-43dd-bc93-6894a57f9324"}


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_retry_after_a_broken_stream_joins_the_run(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, again = Gate(), anyio.Event()
    results: list[CallToolResult] = []
    header = {"Idempotency-Key": "8e03978e"}
    with provider(lambda _: says("A refund.", gate=gate)) as models:
        told_of(models, monkeypatch)
        with served(tmp_path) as url, anyio.fail_after(30):

            async def breaking(scope: anyio.CancelScope) -> None:
                with scope:
                    async with client_of(url, None, era, **header) as client:
                        await client.call_tool("improve_text", ARGUMENTS)

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                assert progress > 0 or (message or "").startswith("run run_")
                again.set()

            async with anyio.create_task_group() as group:
                scope = anyio.CancelScope()
                group.start_soon(breaking, scope)
                await gate.reached()
                scope.cancel()
                async with client_of(url, None, era, **header) as client:

                    async def open_when_joined() -> None:
                        await again.wait()
                        gate.open()

                    group.start_soon(open_when_joined)
                    results.append(
                        await client.call_tool("improve_text", ARGUMENTS, progress_callback=hear)
                    )
                    results.append(await client.call_tool("improve_text", ARGUMENTS))
    assert told(results[0])["text"] == "A refund."
    assert told(results[1])["run_id"] == told(results[0])["run_id"]
    assert len(models.requests) == 1, "paid once"


async def test_a_retry_goes_on_with_the_run_of_a_process_that_was_killed(tmp_path: Path) -> None:
    gate = Gate()
    with provider(lambda _: says("A refund.", gate=gate)) as models, anyio.fail_after(60):
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": models.url}
        with http_server(tmp_path, **key) as (url, process):

            async def breaking() -> None:
                with pytest.raises(BaseExceptionGroup):
                    async with client_of(url, None) as client:
                        await client.call_tool("improve_text", ARGUMENTS, meta=KEY)

            async with anyio.create_task_group() as group:
                group.start_soon(breaking)
                await gate.reached()
                process.send_signal(signal.SIGKILL)
        gate.open()
        with http_server(tmp_path, **key) as (url, _):
            async with client_of(url, None) as client:
                result = await client.call_tool("improve_text", ARGUMENTS, meta=KEY)
                listed = await client.call_tool("get_thought_history", {})
    assert told(result)["text"] == "A refund."
    assert len(told(listed)["runs"]) == 1


@asynccontextmanager
async def session(home: Path) -> AsyncGenerator[Client]:
    async with Client(SifakaServer(Settings(home=home))) as client:
        yield client


async def test_two_requests_with_one_key_at_the_same_time_are_one_run(tmp_path: Path) -> None:
    results: list[CallToolResult] = []
    async with session(tmp_path) as client:

        async def improve() -> None:
            arguments = {"text": "It is is the end.", "model": "editor"}
            results.append(await client.call_tool("improve_text", arguments, meta=KEY))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(improve)
    assert {told(result)["run_id"] for result in results} == {told(results[0])["run_id"]}
    assert {told(result)["text"] for result in results} == {"It is the end."}


async def test_a_key_stands_for_one_request(tmp_path: Path) -> None:
    async with session(tmp_path) as client:
        await client.call_tool("improve_text", {"text": "One."}, meta=KEY)
        for other in ({"text": "Two."}, {"text": "One.", "tags": ["x"]}, {"text": ""}):
            refused = await client.call_tool("improve_text", other, meta=KEY)
            assert refused.is_error
        assert "sent with another request before" in said(
            await client.call_tool("improve_text", {"text": "Two."}, meta=KEY)
        )
        wrong: Any = {KEY_META: "x" * 201}
        assert "1 to 200 characters" in said(
            await client.call_tool("improve_text", {"text": "One."}, meta=wrong)
        )


async def test_keys_of_different_tenants_are_different(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    with served(tmp_path, auth_tokens_file=tokens) as url:
        for token, name in ((alice, "Alice"), (bob, "Bob")):
            async with client_of(url, token, "auto", **{"idempotency-key": "1"}) as client:
                arguments = {"text": f"It is is by {name}.", "model": "editor"}
                result = await client.call_tool("improve_text", arguments)
                assert told(result)["text"] == f"It is by {name}."


def told(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return result.structured_content


def said(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text
