"""Processes whose clocks are a minute apart: a run stays with its worker while that lives."""

import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.server.runs.test_queue import KEY, Worked, line_of, running, worker
from tests.stubs.provider import Gate, provider, says, told_of
from tests.stubs.redis_server import shared_redis
from tests.stubs.servers import http_server, skewed

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform != "linux", reason="libfaketime is preloaded by Linux"),
]
SILENCE = 4.0
"""Seconds after which a worker is dead, on a busy machine too."""
LOOKS = 2 * SILENCE
"""Seconds in which a server looks for silent workers some times."""
ARGUMENTS: dict[str, Any] = {
    "text": "x",
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": "openai-chat:stub",
    "critics": ["lint"],
    "wait_seconds": 0,
}


@pytest.mark.parametrize("seconds", [60, pytest.param(-60, marks=pytest.mark.servers)])
async def test_a_queued_run_goes_to_another_worker_when_its_own_is_dead(seconds: int) -> None:
    url, name, worked = shared_redis().url, f"test:{uuid4().hex}", Worked()
    async with running(url, name, Worked.none()) as queue:
        queue.stop()
        await queue.add(KEY)
        with worker(url, name, seconds=SILENCE, **skewed(seconds)) as other:
            assert await line_of(other) == "run_1 0\n"
            async with running(url, name, worked, seconds=SILENCE):
                with anyio.move_on_after(LOOKS) as waiting:
                    await worked.are(1)
                assert waiting.cancelled_caught, "its worker lives"
                other.kill()
                assert await worked.are(1) == [(KEY, 1)]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("file", marks=pytest.mark.servers)])
async def test_a_run_on_disk_is_gone_on_with_when_its_server_is_dead(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    with provider(lambda _: says("A refund.", gate=gate)) as models:
        key = told_of(models, monkeypatch)
        settings = {"SIFAKA_STORE": f"{kind}:", **key, **skewed(60)}
        with http_server(tmp_path, **settings) as (url, process):
            async with Client(url) as client:
                begun = told(await client.call_tool("improve_text", ARGUMENTS))
            await gate.reached()
            async with Client(SifakaServer(Settings(home=tmp_path, store=f"{kind}:"))) as client:
                asked = {"run_id": begun["run_id"], "wait_seconds": 2}
                ended = told(await client.call_tool("resume_run", asked))
                assert ended["status"] == "running"
                assert len(models.requests) == 1
                process.kill()
                gate.open()
                while ended["status"] == "running":
                    ended = told(await client.call_tool("resume_run", asked))
    assert (ended["status"], ended["text"]) == ("done", "A refund.")
    assert len(models.requests) == 2, "the call that was under way is asked again"


def told(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return result.structured_content
