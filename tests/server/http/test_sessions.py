"""Sessions over HTTP: whose they are, how many there are, and how they end."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp_types import EmptyResult, SubscribeRequest, SubscribeRequestParams

from sifaka.models.provider import loaded
from tests.stubs.handshake import MODEL, Caller, caller
from tests.stubs.provider import Gate, provided, says
from tests.stubs.sampling_client import TEXT, ScriptedHost, data, is_for_a_writer
from tests.stubs.served import client_of, grant_token, served
from tests.stubs.servers import Era, http_server

pytestmark = pytest.mark.anyio
RULES = [{"type": "content", "required": ["refund"]}]


@contextmanager
def with_sessions(home: Path, **more: Any) -> Generator[str]:
    with served(home, sessions="on", **more) as url:
        yield url


async def stream(caller: Caller, into: list[str], group: Any) -> httpx2.Response:
    """The stream of a session, read into a list to its end."""
    request = caller.http.build_request("GET", caller.url)
    answer = await caller.http.send(request, stream=True)

    async def read() -> None:
        into.extend([line async for line in answer.aiter_lines()])
        into.append("the end")

    group.start_soon(read)
    return answer


async def ended(told: list[str]) -> None:
    with anyio.fail_after(30):
        while told[-1:] != ["the end"]:  # noqa: ASYNC110 - there is no event
            await anyio.sleep(0.01)


async def test_the_session_of_another_is_as_one_that_never_was(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    with with_sessions(tmp_path, auth_tokens_file=tokens) as url:
        async with caller(url, alice, in_session=True) as hers, caller(url, bob) as his:
            said: list[tuple[int, str]] = []
            for session in (hers.http.headers["mcp-session-id"], "0123456789abcdef"):
                his.http.headers["mcp-session-id"] = session
                for method in ("POST", "GET", "DELETE"):
                    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                    answer = await his.http.request(method, url, json=body)
                    said.append((answer.status_code, answer.text))
                answer = await his.post("initialize", 1)
                said.append((answer.status_code, answer.text))
            assert said == [said[0]] * 8
            assert said[0][0] == 404
            assert (await hers.post("ping", 1)).status_code == 200


async def test_a_token_for_reading_only_writes_in_no_session_of_its_tenant(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    full = grant_token(tokens, "alice")
    reading = grant_token(tokens, "alice", scopes=("sifaka:read",))
    with with_sessions(tmp_path, auth_tokens_file=tokens) as url:
        async with caller(url, full, in_session=True) as one, caller(url, reading) as other:
            other.http.headers["mcp-session-id"] = one.http.headers["mcp-session-id"]
            await other.call("improve_text", 1, arguments={"text": "x"})
            assert "good for reading only" in other.answers[1]
            await one.call("improve_text", 1, arguments={"text": "x"})
            assert "run_id" in one.answers[1]


@pytest.mark.parametrize("scopes", [("sifaka:read",), ("sifaka:write",)])
async def test_a_session_is_ended_by_its_own_token(tmp_path: Path, scopes: tuple[str, ...]) -> None:
    tokens = tmp_path / "tokens"
    full = grant_token(tokens, "alice")
    another = grant_token(tokens, "alice", scopes=scopes)
    with with_sessions(tmp_path, auth_tokens_file=tokens) as url:
        async with caller(url, full, in_session=True) as one, caller(url, another) as other:
            other.http.headers["mcp-session-id"] = one.http.headers["mcp-session-id"]
            refused = await other.http.delete(url)
            other.http.headers["mcp-session-id"] = "0123456789abcdef"
            unknown = await other.http.delete(url)
            assert (refused.status_code, refused.text) == (404, unknown.text)
            assert (await one.post("ping", 1)).status_code == 200
            assert (await one.http.delete(url)).status_code == 200
            assert (await one.post("ping", 2)).status_code == 404
            await other.open()
            assert (await other.http.delete(url)).status_code == 200, "it ends its own"


async def test_a_session_is_unknown_after_a_restart(tmp_path: Path) -> None:
    with with_sessions(tmp_path) as url:
        async with caller(url) as first:
            session = await first.open()
    with with_sessions(tmp_path) as url:
        async with caller(url) as again:
            again.http.headers["mcp-session-id"] = session
            answer = await again.post("ping", 1)
            assert answer.status_code == 404
            assert "Send initialize without Mcp-Session-Id" in answer.json()["error"]["message"]
            await again.open()
            assert (await again.post("ping", 1)).status_code == 200
            # Without a session only initialize is answered.
            again.http.headers.pop("mcp-session-id")
            assert (await again.post("tools/list", 1)).status_code == 400
            assert (await again.http.get(url)).status_code == 400
            assert (await again.http.delete(url)).status_code == 400
            await again.until("sifaka_sessions 1.0")


async def test_a_session_ends_with_its_work(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    await loaded(MODEL)
    with (
        provided(lambda _: says("A text.", gate=gate), monkeypatch) as models,
        with_sessions(tmp_path) as url,
    ):
        async with caller(url, in_session=True) as client, anyio.create_task_group() as group:
            group.start_soon(client.improve)
            await gate.reached()
            assert (await client.http.delete(url)).status_code == 200
            assert (await client.post("ping", 1)).status_code == 404
            await models.deserted()
            gate.open()
            await client.until("sifaka_runs_in_progress 0.0")
            assert await client.statuses() == ["cancelled"]
            assert len(models.requests) == 1
            await client.until("sifaka_sessions 0.0")


@pytest.mark.slow
async def test_a_client_that_disconnects_from_a_session_cancels_nothing(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    await loaded(MODEL)
    with (
        provided(lambda _: says("A refund.", gate=gate), monkeypatch) as models,
        with_sessions(tmp_path) as url,
    ):
        async with caller(url, in_session=True) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.improve)
                await gate.reached()
                group.cancel_scope.cancel()
            gate.open()
            await client.until("sifaka_runs_in_progress 0.0")
            assert await client.statuses() != ["cancelled"]
            assert len(models.requests) > 1


@pytest.mark.slow
async def test_sessions_that_are_left_make_room_for_their_tenant(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    with with_sessions(tmp_path, auth_tokens_file=tokens, max_sessions=5) as url:
        async with caller(url, alice, in_session=True) as hers, caller(url, bob) as his:
            opened = [await his.open() for _ in range(20)]
            await his.until("sifaka_sessions 6.0")
            known: list[bool] = []
            for session in opened:
                his.http.headers["mcp-session-id"] = session
                known.append((await his.post("ping", 1)).status_code == 200)
            assert known == [False] * 15 + [True] * 5
            assert (await hers.post("ping", 1)).status_code == 200


async def test_where_every_session_is_in_use_none_is_opened(tmp_path: Path) -> None:
    with with_sessions(tmp_path, max_sessions=1) as url:
        async with caller(url, in_session=True) as one, caller(url) as two:
            async with one.http.stream("GET", url) as answer:
                assert answer.status_code == 200
                refused = await two.post("initialize", 1)
                assert refused.status_code == 503
                assert "Too many open sessions" in refused.text
            await one.until('sifaka_http_requests_in_progress{path="/mcp"} 0.0')
            await two.open()
            assert (await one.post("ping", 1)).status_code == 404


@pytest.mark.slow
async def test_a_session_that_is_not_used_ends(tmp_path: Path) -> None:
    with with_sessions(tmp_path, session_seconds=1) as url:
        async with caller(url, in_session=True) as client:
            await client.until("sifaka_sessions 0.0")
            assert (await client.post("ping", 1)).status_code == 404


@pytest.mark.slow
async def test_a_stream_of_notifications_ends_with_its_token(tmp_path: Path) -> None:
    tokens, told = tmp_path / "tokens", list[str]()
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
    token = grant_token(tokens, "alice", expires=soon)
    with with_sessions(tmp_path, auth_tokens_file=tokens) as url:
        async with caller(url, token, in_session=True) as client:
            async with anyio.create_task_group() as group:
                answer = await stream(client, told, group)
                assert answer.status_code == 200
                await ended(told)
            assert datetime.now(UTC) >= soon
            assert (await client.post("ping", 1)).status_code == 401


@pytest.mark.slow
async def test_open_streams_do_not_hold_up_the_end_of_the_server(tmp_path: Path) -> None:
    told = list[str]()
    with http_server(tmp_path, SIFAKA_SESSIONS="on", SIFAKA_LOG_LEVEL="INFO") as (url, process):
        assert process.stderr is not None
        async with caller(url, in_session=True) as client, anyio.create_task_group() as group:
            await stream(client, told, group)
            process.send_signal(signal.SIGTERM)
            await ended(told)
        said = process.stderr.read()
    assert "timeout graceful shutdown exceeded" not in said
    assert "without completing response" not in said
    assert "Traceback" not in said


@pytest.mark.slow
async def test_the_host_is_asked_in_a_session_and_notified_of_its_run(tmp_path: Path) -> None:
    host, updates = ScriptedHost(content_with=1), anyio.Event()

    async def take(message: object) -> None:
        if "ResourceUpdated" in type(message).__name__:
            updates.set()

    arguments = {"text": TEXT, "prompt": "write drafts"}
    with with_sessions(tmp_path) as url:
        async with Client(
            url, mode="legacy", sampling_callback=host, message_handler=take
        ) as client:
            out = data(await client.call_tool("improve_text", {**arguments, "model": "caller"}))
            subscribing = SubscribeRequestParams(uri=f"run://{out['run_id']}")
            await client.session.send_request(SubscribeRequest(params=subscribing), EmptyResult)
            await client.call_tool("cancel_run", {"run_id": out["run_id"]})
            with anyio.fail_after(20):
                await updates.wait()
            assert host.asked == []
            out = data(await client.call_tool("improve_text", arguments))
    assert (out["model"], out["text"], len(host.asked)) == ("host", "Draft 1 of the text.", 2)


async def test_a_person_who_declines_in_a_session_is_given_a_brief(tmp_path: Path) -> None:
    host = ScriptedHost(content_with=1, refuses=is_for_a_writer)
    with with_sessions(tmp_path) as url:
        async with Client(url, mode="legacy", sampling_callback=host) as client:
            arguments = {"text": TEXT, "prompt": "write drafts"}
            out = data(await client.call_tool("improve_text", arguments))
    assert out["status"] == "needs_revision"
    assert "Write the next version of it" in out["brief"]["instructions"]
    assert "User rejected" in out["degraded"][-1]


async def test_a_run_that_outlives_its_request_asks_when_resumed(tmp_path: Path) -> None:
    host = ScriptedHost(content_with=1)
    arguments = {"text": TEXT, "prompt": "write drafts", "wait_seconds": 0}
    with with_sessions(tmp_path) as url:
        async with Client(url, mode="legacy", sampling_callback=host) as client:
            out = data(await client.call_tool("improve_text", arguments))
            assert out["status"] == "running"
            out = data(await client.call_tool("resume_run", {"run_id": out["run_id"]}))
    assert (out["status"], out["text"]) == ("done", "Draft 1 of the text.")
    assert len(host.asked) == out["usage"]["model_calls"]


async def test_clients_of_both_eras_work_beside_each_other(tmp_path: Path, era: Era) -> None:
    with with_sessions(tmp_path) as url:
        async with client_of(url, None, era) as client:
            run = data(await client.call_tool("improve_text", {"text": "x", "validators": RULES}))
            out = data(await client.call_tool("cancel_run", {"run_id": run["run_id"]}))
    assert out["status"] == "cancelled"
