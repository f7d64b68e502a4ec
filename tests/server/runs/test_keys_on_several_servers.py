"""A request that is sent again with its key to another server on the same queue: one run."""

from contextlib import AsyncExitStack, suppress
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
from tests.stubs.provider import Gate, provider, says, told_of
from tests.stubs.redis_server import redis_server
from tests.stubs.servers import http_server

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]
SERVERS = 3
KEY: Any = {KEY_META: "a-key-of-one-request"}
ARGUMENTS: dict[str, Any] = {
    "text": "x",
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": "openai-chat:stub",
    "critics": ["lint"],
}


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
                    arguments = ARGUMENTS | {"wait_seconds": 2}
                    again = told(await client.call_tool("improve_text", arguments, meta=KEY))
                    gate.open()
                    while again["status"] == "running":
                        again = told(await client.call_tool("improve_text", arguments, meta=KEY))
                    ended.append(again)

                async with anyio.create_task_group() as group:
                    for client in clients:
                        group.start_soon(retry, client)
                listed = told(await clients[0].call_tool("get_thought_history", {}))
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
            await client.call_tool("improve_text", ARGUMENTS, meta=KEY, progress_callback=hear)


def told(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return result.structured_content
