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
ERAS: tuple[Era, ...] = ("legacy", "auto") * 4
"""Those of the clients that wait for a run each."""


@pytest.mark.slow
async def test_every_waiting_client_is_told_that_its_run_goes_on(tmp_path: Path) -> None:
    answers: list[CallToolResult] = []
    with provider(lambda _: HANGS) as models:
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": models.url}
        with http_server(tmp_path, **key) as (url, process), anyio.fail_after(60):

            async def improve(number: int, era: Era) -> None:
                async with client_of(url, None, era) as client:
                    await client.list_tools()  # or it would ask for them when it has the answer
                    rule = {"type": "content", "required": [f"word {number}"]}
                    arguments = {"text": f"x {number}", "validators": [rule], "model": MODEL}
                    answers.append(await client.call_tool("improve_text", arguments))

            async with anyio.create_task_group() as group:
                for number, era in enumerate(ERAS):
                    group.start_soon(improve, number, era)
                while len(models.requests) < len(ERAS):  # noqa: ASYNC110 - counted in another thread
                    await anyio.sleep(0.01)
                process.send_signal(signal.SIGTERM)
            assert await anyio.to_thread.run_sync(process.wait, 100) == -signal.SIGTERM
    told = [answer.structured_content for answer in answers]
    assert [each and each["status"] for each in told] == ["running"] * len(ERAS)
