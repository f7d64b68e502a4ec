"""A server over HTTP that is told to end while clients wait, in both eras of the protocol."""

import signal
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from mcp_types import CallToolResult

from tests.stubs.provider import HANGS, provider
from tests.stubs.served import client_of
from tests.stubs.servers import Era, http_server

pytestmark = pytest.mark.anyio
MODEL = "openai-chat:stub"
WAITING = 5
"""Clients that wait for a run each."""


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_every_waiting_client_is_told_that_its_run_goes_on(tmp_path: Path, era: Era) -> None:
    answers: list[CallToolResult] = []
    with provider(lambda _: HANGS) as models:
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": models.url}
        with http_server(tmp_path, **key) as (url, process), anyio.fail_after(60):

            async def improve(number: int) -> None:
                async with client_of(url, None, era) as client:
                    await client.list_tools()  # or it would ask for them when it has the answer
                    rule = {"type": "content", "required": [f"word {number}"]}
                    arguments = {"text": f"x {number}", "validators": [rule], "model": MODEL}
                    answers.append(await client.call_tool("improve_text", arguments))

            async with anyio.create_task_group() as group:
                for number in range(WAITING):
                    group.start_soon(improve, number)
                while len(models.requests) < WAITING:  # noqa: ASYNC110 - counted in another thread
                    await anyio.sleep(0.01)
                process.send_signal(signal.SIGTERM)
            assert await anyio.to_thread.run_sync(process.wait, 100) == -signal.SIGTERM
    told = [answer.structured_content for answer in answers]
    assert [each and each["status"] for each in told] == ["running"] * WAITING
