"""Several processes that go on with one run at the same moment ask for nothing twice."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.provider import Gate, provider, says, told_of
from tests.stubs.redis_server import redis_server

pytestmark = pytest.mark.anyio
ARGUMENTS: dict[str, Any] = {
    "text": "x",
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": "openai-chat:stub",
    "critics": ["lint"],
    "wait_seconds": 0,
}


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_resumes_at_once_are_one(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    with redis_server() as redis, provider(lambda _: says("A refund.", gate=gate)) as models:
        told_of(models, monkeypatch)
        store = "sqlite:" if kind == "sqlite" else redis.url
        settings = Settings(home=tmp_path, store=store)
        with anyio.fail_after(50):
            async with Client(SifakaServer(settings)) as client:
                begun = told(await client.call_tool("improve_text", ARGUMENTS))
                await gate.reached()
            first = len(models.requests)
            results: list[dict[str, Any]] = []

            async def resume(ready: anyio.Event) -> None:
                async with Client(SifakaServer(settings)) as client:
                    await client.list_tools()
                    ready.set()
                    await go.wait()
                    asked = {"run_id": begun["run_id"], "wait_seconds": 30}
                    results.append(told(await client.call_tool("resume_run", asked)))
                    if len(results) < 3:
                        await done.wait()
                    done.set()

            go, done = anyio.Event(), anyio.Event()
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    ready = anyio.Event()
                    group.start_soon(resume, ready)
                    await ready.wait()
                go.set()
                while len(models.requests) == first:  # noqa: ASYNC110 - in another thread
                    await anyio.sleep(0.01)
                await anyio.sleep(1)
                gate.open()
    assert [each["text"] for each in results] == ["A refund."] * 3
    assert len(models.requests) == first + 1


def told(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return result.structured_content
