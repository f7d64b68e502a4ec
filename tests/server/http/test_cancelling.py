"""Requests that are cancelled, with sessions and without, and clients and servers that leave."""

import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
import anyio.to_thread
import httpx2
import pytest
from mcp_types import CallToolResult

from sifaka.models.provider import loaded
from tests.stubs.handshake import MODEL, Caller, caller
from tests.stubs.provider import HANGS, Gate, Provider, provided, provider, says
from tests.stubs.served import client_of, grant_token, served
from tests.stubs.servers import Era, http_server

pytestmark = pytest.mark.anyio


IDLE = "sifaka_runs_in_progress 0.0"


@asynccontextmanager
async def improving(caller: Caller, gate: Gate, **how: Any) -> AsyncGenerator[None]:
    """Within it a request waits for its provider."""
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: caller.improve(**how))
        await gate.reached()
        yield


@asynccontextmanager
async def paid(
    home: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> AsyncGenerator[tuple[str, Provider]]:
    """A server whose provider counts what it is asked, and answers when the gate is open."""
    await loaded(MODEL)  # which takes long on a busy machine
    with (
        provided(lambda _: says("A text.", gate=gate), monkeypatch) as models,
        served(home, **settings) as url,
    ):
        try:
            yield url, models
        finally:
            gate.open()


KEY = {"sifaka.idempotency-key": "a key"}
"""Keeps a run from leaving with its client, and not from being cancelled."""


@pytest.mark.parametrize(
    ("sessions", "word", "how"),
    [
        ("off", {"number": 7}, {}),
        ("on", {"number": "7"}, {}),
        ("off", {"number": "token of 7"}, {}),
        ("off", {"number": 7, "_meta": {"progressToken": "token of 7"}}, {}),
        ("off", {"number": 7}, KEY),
        ("on", {"number": 7}, KEY),
    ],
)
async def test_no_call_is_paid_for_after_a_cancellation(
    tmp_path: Path,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    sessions: str,
    word: dict[str, Any],
    how: dict[str, str],
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch, sessions=sessions) as (url, models),
        caller(url, in_session=sessions == "on") as client,
    ):
        async with improving(client, gate, **how):
            await client.cancel(**word)
        assert '"code":-32800' in client.answers[7]
        await models.deserted()
        gate.open()
        await client.until(IDLE)
        assert await client.statuses() == ["cancelled"]
        assert len(models.requests) == 1


async def test_what_names_no_call_of_this_client_stops_nothing(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch) as (url, _),
        caller(url) as client,
        caller(url, name="another/1") as other,
    ):
        async with improving(client, gate):
            for number in (8, True, None, {"a": 1}):
                await client.cancel(number)
            await other.cancel(7)
            gate.open()
        assert '"result"' in client.answers[7]


@pytest.mark.parametrize("sessions", ["off", "on"])
async def test_a_tenant_stops_no_run_of_another(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, sessions: str
) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    told = {"sessions": sessions, "auth_tokens_file": tokens}
    in_session = sessions == "on"
    async with (
        paid(tmp_path, gate, monkeypatch, **told) as (url, _),
        caller(url, alice, in_session=in_session) as hers,
        caller(url, bob, in_session=in_session) as his,
    ):
        async with improving(hers, gate):
            await his.cancel(7)
            await his.cancel("token of 7")
            gate.open()
        assert '"result"' in hers.answers[7]
        assert await his.statuses() == []


async def test_a_number_that_two_clients_use_stops_neither(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch) as (url, models),
        caller(url) as one,
        caller(url) as two,
    ):
        async with improving(one, gate), improving(two, gate, token="another"):
            with anyio.fail_after(20):
                while len(models.requests) < 2:  # noqa: ASYNC110 - in another thread
                    await anyio.sleep(0.01)
            await two.cancel(7)
            gate.open()
        assert '"result"' in one.answers[7]
        assert '"result"' in two.answers[7]


async def test_a_cancellation_that_crosses_its_answer_stops_no_later_call(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch) as (url, _),
        caller(url) as one,
        caller(url) as two,
    ):
        async with improving(two, gate, number=8, token=7):
            await one.call("validate_text", 7, arguments={"text": "x"})
            assert '"result"' in one.answers[7]
            await one.cancel(7)
            gate.open()
        assert '"result"' in two.answers[8]


@pytest.mark.slow
@pytest.mark.parametrize("sessions", ["off", "on"])
async def test_a_cancellation_leaves_an_answer_whole(tmp_path: Path, sessions: str) -> None:
    """Many at once, each cancelled about when its answer comes: one of both, never neither."""
    with served(tmp_path, sessions=sessions) as url:
        async with caller(url, in_session=sessions == "on") as client:

            async def check(number: int) -> None:
                await client.call("validate_text", number, arguments={"text": "A text. " * 200})

            async with anyio.create_task_group() as group:
                for number in range(40):
                    group.start_soon(check, number)
                    group.start_soon(client.cancel, number)
            for number in range(40):
                said = client.answers[number]
                assert ('"result"' in said) != ('"code":-32800' in said), said
            assert '"result"' in (await client.post("ping", 99)).text


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
