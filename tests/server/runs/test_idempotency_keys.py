"""Requests with an idempotency key: sent twice, to whichever server, they are one run."""

import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus
from mcp import Client
from mcp_types import CallToolResult

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host.sampling import KEY_META
from sifaka_mcp.settings import Settings
from tests.stubs.provider import REFUND, Gate, provided, provider, says, told_of
from tests.stubs.redis_server import redis_server
from tests.stubs.sampling_client import data, error
from tests.stubs.served import client_of, grant_token, served
from tests.stubs.servers import Era, http_server

pytestmark = pytest.mark.anyio


KEY: Any = {KEY_META: "8e03978e-40d5-43dd-bc93-6894a57f9324"}


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_retry_after_a_broken_stream_joins_the_run(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, again = Gate(), anyio.Event()
    results: list[CallToolResult] = []
    header = {"Idempotency-Key": "8e03978e"}
    with (
        provided(lambda _: says("A refund.", gate=gate), monkeypatch) as models,
        served(tmp_path) as url,
        anyio.fail_after(30),
    ):

        async def breaking(scope: anyio.CancelScope) -> None:
            with scope:
                async with client_of(url, None, era, **header) as client:
                    await client.call_tool("improve_text", REFUND)

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
                    await client.call_tool("improve_text", REFUND, progress_callback=hear)
                )
                results.append(await client.call_tool("improve_text", REFUND))
    assert data(results[0])["text"] == "A refund."
    assert data(results[1])["run_id"] == data(results[0])["run_id"]
    assert len(models.requests) == 1, "paid once"


@pytest.mark.slow
async def test_a_retry_goes_on_with_the_run_of_a_process_that_was_killed(tmp_path: Path) -> None:
    gate = Gate()
    with provider(lambda _: says("A refund.", gate=gate)) as models, anyio.fail_after(60):
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": models.url}
        with http_server(tmp_path, **key) as (url, process):

            async def breaking() -> None:
                with pytest.raises(BaseExceptionGroup):
                    async with client_of(url, None) as client:
                        await client.call_tool("improve_text", REFUND, meta=KEY)

            async with anyio.create_task_group() as group:
                group.start_soon(breaking)
                await gate.reached()
                process.send_signal(signal.SIGKILL)
        gate.open()
        with http_server(tmp_path, **key) as (url, _):
            async with client_of(url, None) as client:
                result = await client.call_tool("improve_text", REFUND, meta=KEY)
                listed = await client.call_tool("get_thought_history", {})
    assert data(result)["text"] == "A refund."
    assert len(data(listed)["runs"]) == 1


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
    assert {data(result)["run_id"] for result in results} == {data(results[0])["run_id"]}
    assert {data(result)["text"] for result in results} == {"It is the end."}


async def test_a_key_stands_for_one_request(tmp_path: Path) -> None:
    async with session(tmp_path) as client:
        await client.call_tool("improve_text", {"text": "One."}, meta=KEY)
        for other in ({"text": "Two."}, {"text": "One.", "tags": ["x"]}, {"text": ""}):
            refused = await client.call_tool("improve_text", other, meta=KEY)
            assert other["text"] != "Two." or "sent with another request" in error(refused)
            assert refused.is_error
        wrong: Any = {KEY_META: "x" * 201}
        assert "1 to 200 characters" in error(
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
                assert data(result)["text"] == f"It is by {name}."


SERVERS = 3


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("killed", [pytest.param(False, marks=pytest.mark.servers), True])
async def test_a_retry_on_another_server_joins_the_run(
    tmp_path: Path, killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    with redis_server() as redis, provider(lambda _: says("A refund.", gate=gate)) as models:
        key = told_of(models, monkeypatch)
        settings = Settings(home=tmp_path, store=redis.url, takeover_seconds=2)
        own = {"SIFAKA_STORE": redis.url, "SIFAKA_TAKEOVER_SECONDS": "2", **key}
        async with AsyncExitStack() as around:
            url, process = around.enter_context(http_server(tmp_path, **own))
            around.enter_context(anyio.fail_after(200))
            calling = await around.enter_async_context(anyio.create_task_group())
            begun: str = await calling.start(first, url)
            await gate.reached()
            if killed:
                process.kill()
            async with AsyncExitStack() as stack:
                clients = [
                    await stack.enter_async_context(Client(SifakaServer(settings)))
                    for _ in range(SERVERS)
                ]
                ended: list[dict[str, Any]] = []

                async def retry(client: Client) -> None:
                    arguments = REFUND | {"wait_seconds": 2}
                    again = data(await client.call_tool("improve_text", arguments, meta=KEY))
                    gate.open()
                    while again["status"] == "running":
                        again = data(await client.call_tool("improve_text", arguments, meta=KEY))
                    ended.append(again)

                async with anyio.create_task_group() as group:
                    for client in clients:
                        group.start_soon(retry, client)
                listed = data(await clients[0].call_tool("get_thought_history", {}))
    assert {each["run_id"] for each in ended} == {begun}
    assert [each["text"] for each in ended] == ["A refund."] * SERVERS
    assert len(listed["runs"]) == 1
    assert len(models.requests) == 1 + killed, "the call of the killed server alone is asked again"


async def first(url: str, *, task_status: TaskStatus[str]) -> None:
    """A call that tells the id of its run, and breaks off when its server is killed."""

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        if (message or "").startswith("run "):
            task_status.started((message or "").removeprefix("run "))

    with suppress(Exception):
        async with Client(url) as client:
            await client.call_tool("improve_text", REFUND, meta=KEY, progress_callback=hear)
