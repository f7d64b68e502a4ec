"""Clients that leave a server over HTTP, and a server that is told to end while clients wait."""

import json
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
import anyio.to_thread
import httpx2
import pytest
from mcp_types import CallToolResult

from tests.stubs.provider import HANGS, provider
from tests.stubs.served import client_of
from tests.stubs.servers import Era, http_server

pytestmark = pytest.mark.anyio
MODEL = "openai-chat:stub"
MODERN: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.slow
async def test_a_client_that_leaves_is_no_error(tmp_path: Path) -> None:
    rule = {"type": "content", "required": ["refund"]}
    arguments = {"text": "x", "validators": [rule], "model": MODEL}
    with provider(lambda _: HANGS) as models:
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": models.url}
        with (
            http_server(tmp_path, SIFAKA_LOG_LEVEL="INFO", **key) as (url, process),
            anyio.fail_after(60),
        ):
            for era in ("2025-11-25", "2026-07-28"):
                body = request(era, "tools/call", name="improve_text", arguments=arguments)
                before = len(models.requests)
                for sent, wanted in ((5, 0), (len(body) - 1, 0), (len(body), 1), (len(body), 2)):
                    async with await begun(url, era, body, sent):
                        while len(models.requests) < before + wanted:  # noqa: ASYNC110 - in another thread
                            await anyio.sleep(0.01)
            listening = request(era, "subscriptions/listen", notifications={})
            async with await begun(url, era, listening, len(listening)) as connection:
                assert b"200 OK" in await connection.receive()
            async with httpx2.AsyncClient() as http:
                numbers = ""
                while "sifaka_runs_in_progress 0.0" not in numbers:
                    numbers = (await http.get(url.replace("/mcp", "/metrics"))).text
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            said = await anyio.to_thread.run_sync(process.stderr.read)
    assert "ERROR" not in said
    assert "Traceback" not in said


def request(era: str, method: str, **params: Any) -> bytes:
    """A request as JSON."""
    if era != "2025-11-25":
        params["_meta"] = MODERN
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


async def begun(url: str, era: str, body: bytes, sent: int) -> anyio.abc.SocketStream:
    """A connection on which so many bytes of a request's body were sent."""
    place = urlsplit(url)
    told = json.loads(body)
    fields = {
        "Host": place.netloc,
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "MCP-Protocol-Version": era,
        "Mcp-Method": told["method"],
        "Mcp-Name": told["params"].get("name", ""),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    connection = await anyio.connect_tcp(place.hostname or "", place.port or 0)
    await connection.send(f"POST {place.path} HTTP/1.1\r\n{head}\r\n".encode() + body[:sent])
    return connection


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
