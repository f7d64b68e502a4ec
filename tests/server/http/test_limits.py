"""Callers who ask too much: too often, too much at a time, too large, too slowly."""

import socket
import threading
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka.text.input import MAX_TEXT
from sifaka_mcp.http import serve
from sifaka_mcp.http.limits import Rates, throttled
from sifaka_mcp.http.serve import PatientProtocol
from tests.attack.isolation import KINDS
from tests.stubs.redis_server import redis_server
from tests.stubs.sampling_client import error
from tests.stubs.served import asking, bearer, client_of, grant_token, in_thread, pinging, served
from tests.stubs.servers import http_server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that lets everybody in."""
    with served(tmp_path_factory.mktemp("home")) as url:
        yield url


async def statuses(url: str, token: str | None, count: int) -> list[httpx2.Response]:
    """The answers to that many requests at about the same time."""
    answers: list[httpx2.Response] = []
    request = pinging(token)
    limits = httpx2.Limits(max_connections=20)

    async def ask(http: httpx2.AsyncClient, share: int) -> None:
        answers.extend([await http.post(url, **request) for _ in range(share)])

    async with (
        httpx2.AsyncClient(limits=limits, timeout=60) as http,
        anyio.create_task_group() as group,
    ):
        for number in range(20):
            group.start_soon(ask, http, len(range(number, count, 20)))
    return answers


@pytest.mark.slow
async def test_a_flood_of_one_tenant_is_refused_and_the_others_are_served(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    with served(tmp_path, auth_tokens_file=tokens, rate_limit="20/hour") as url:
        flood: list[httpx2.Response] = []
        calm: list[httpx2.Response] = []

        async def flooding() -> None:
            flood.extend(await statuses(url, alice, 300))

        async with anyio.create_task_group() as group:
            group.start_soon(flooding)
            calm.extend(await statuses(url, bob, 5))
        assert [answer.status_code for answer in flood].count(200) == 20
        refused = [answer for answer in flood if answer.status_code == 429]
        assert len(refused) == 280
        assert all(0 < int(answer.headers["retry-after"]) <= 3600 for answer in refused)
        assert refused[0].json()["error"] == "rate_limited"
        assert "alice" not in refused[0].text
        assert {answer.status_code for answer in calm} == {200}
        async with client_of(url, bob) as client:
            assert (await client.list_tools()).tools


async def test_guesses_of_tokens_are_limited_by_address(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens, rate_limit="10/hour") as url:
        guesses = [answer.status_code for answer in await statuses(url, "sfk_guess", 30)]
        assert (guesses.count(401), guesses.count(429)) == (10, 20)
        assert (await statuses(url, alice, 1))[0].status_code == 200


async def test_without_tokens_an_address_is_limited(tmp_path: Path) -> None:
    with served(tmp_path, rate_limit="3/hour") as url:
        codes = [answer.status_code for answer in await statuses(url, None, 5)]
        assert sorted(codes) == [200, 200, 200, 429, 429]
        async with httpx2.AsyncClient() as http:
            assert (await http.get(url.replace("/mcp", "/readyz"))).status_code == 200


async def test_replicas_on_one_redis_count_together_and_alone_without(tmp_path: Path) -> None:
    with (
        redis_server() as redis,
        served(tmp_path, store=redis.url, rate_limit="6/hour") as one,
        served(tmp_path, store=f"memory:,{redis.url}", rate_limit="6/hour") as two,
    ):
        codes = [answer.status_code for answer in await statuses(one, None, 4)]
        codes += [answer.status_code for answer in await statuses(two, None, 4)]
        assert (codes.count(200), codes.count(429)) == (6, 2)
        redis.kill()
        answers = await statuses(one, None, 8)
        assert sorted(answer.status_code for answer in answers) == [200] * 6 + [429] * 2


async def test_a_redis_that_fails_is_left_alone_for_a_while() -> None:
    now = 0.0
    rates = Rates("2/hour", ("redis://127.0.0.1:1", "sifaka:run"), clock=lambda: now)
    assert [await rates.wait_of("x") > 0 for _ in range(3)] == [False, False, True]
    with redis_server() as redis:
        rates = Rates("2/hour", (redis.url, "sifaka:run"), clock=lambda: now)
        redis.kill()
        assert [await rates.wait_of("x") > 0 for _ in range(3)] == [False, False, True]
        redis.start()
        assert await rates.wait_of("x") > 0, "not asked again yet"
        now = 60.0
        assert await rates.wait_of("x") == 0
        await rates.aclose()


async def test_only_so_many_requests_of_a_caller_are_under_way() -> None:
    waiting = anyio.Semaphore(0)
    begun = anyio.Semaphore(0)
    sent: list[Message] = []

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        begun.release()
        await waiting.acquire()

    async def receive() -> Message:
        raise AssertionError("the body of a refused request is not read")

    async def send(message: Message) -> None:
        sent.append(message)

    def request(address: str, path: str = "/mcp") -> Scope:
        return {"type": "http", "path": path, "client": (address, 1), "headers": []}

    throttle = throttled(slow, rates=None, most=2, unlimited=("/healthz",))

    async def ask(scope: Scope) -> None:
        await throttle(scope, receive, send)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for scope in (
                request("10.0.0.1"),
                request("10.0.0.1"),
                request("10.0.0.1", "/healthz"),
                request("10.0.0.2"),
            ):
                group.start_soon(ask, scope)
                await begun.acquire()
            await throttle(request("10.0.0.1"), receive, send)
            assert sent[0]["status"] == 429
            for _ in range(4):
                waiting.release()
        sent.clear()
        waiting.release()
        await throttle(request("10.0.0.1"), receive, send)
        assert sent == [], "those that have ended make room"


async def test_a_large_body_is_refused_before_it_is_read(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens, max_body_bytes=1_000_000) as url:
        headers = asking()["headers"] | bearer(alice) | {"content-type": "application/json"}
        host, port = place(url)
        async with await anyio.connect_tcp(host, port) as connection:
            lines = [f"{name}: {value}" for name, value in headers.items()]
            head = ["POST /mcp HTTP/1.1", f"host: {host}:{port}", "content-length: 5000000", *lines]
            await connection.send("\r\n".join([*head, "", ""]).encode())
            with anyio.fail_after(60):
                assert b" 413 " in await connection.receive(), "nothing of it was sent"

        async def chunks() -> AsyncGenerator[bytes]:
            for _ in range(50):
                yield b" " * 100_000

        async with httpx2.AsyncClient() as http:
            answer = await http.post(url, content=chunks(), headers=headers)
            assert answer.status_code == 413, "it did not say how large it would be"
            unknown = await http.post(url, content=chunks(), headers=asking()["headers"])
            assert unknown.status_code == 401
            assert (await statuses(url, alice, 1))[0].status_code == 200


@pytest.mark.parametrize(
    "before",
    [
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\n",
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ",
        "GET /healthz?",
        "POST /healthz HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
    ],
    ids=["fields", "one field", "address", "fields behind the body"],
)
async def test_a_head_without_an_end_is_refused(plain: str, before: str) -> None:
    part = b"a" * 65_536 if before.endswith((" ", "?")) else b"a: b\r\n" * 10_000
    with anyio.fail_after(20):
        async with await anyio.connect_tcp(*place(plain)) as connection:
            await connection.send(before.encode())
            with suppress(anyio.BrokenResourceError):
                for _ in range(1000):
                    await connection.send(part)
                raise AssertionError("64 MB were taken")
        async with httpx2.AsyncClient() as http:
            assert (await http.get(plain.replace("/mcp", "/healthz"))).status_code == 200


@pytest.mark.parametrize("pieces", [1, 7])
async def test_a_large_head_is_answered(plain: str, pieces: int) -> None:
    head = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 100_000 + b"\r\n\r\n"
    size = len(head) // pieces + 1
    with anyio.fail_after(20):
        async with await anyio.connect_tcp(*place(plain)) as connection:
            for start in range(0, len(head), size):
                await connection.send(head[start : start + size])
            assert (await connection.receive()).startswith(b"HTTP/1.1 431 ")
            with pytest.raises(anyio.EndOfStream):
                await connection.receive()


async def test_the_unfinished_bodies_of_one_caller_are_bounded_together(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    mallory, alice = grant_token(tokens, "mallory"), grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens, max_body_bytes=1_000_000) as url:
        refused: list[bytes] = []
        done = anyio.Event()

        async def begin(token: str, group: anyio.abc.TaskGroup) -> None:
            fields = bearer(token) | {"host": "localhost", "content-length": "1000000"}
            lines = [f"{name}: {value}" for name, value in fields.items()]
            async with await anyio.connect_tcp(*place(url)) as connection:
                head = "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""])
                with suppress(anyio.BrokenResourceError):
                    await connection.send(head.encode() + b" " * 900_000)
                refused.append(await connection.receive())
                if len(refused) == 20:
                    done.set()

        async with anyio.create_task_group() as group:
            for _ in range(24):
                group.start_soon(begin, mallory, group)
            with anyio.fail_after(20):
                await done.wait()
            assert {answer.split()[1] for answer in refused} == {b"429"}
            assert (await statuses(url, alice, 1))[0].status_code == 200
            group.cancel_scope.cancel()
        with anyio.fail_after(60):
            while (await statuses(url, mallory, 1))[0].status_code != 200:
                await anyio.lowlevel.checkpoint()


async def test_half_requests_do_not_hold_the_server_and_a_long_text_is_told(plain: str) -> None:
    halves = [socket.create_connection(place(plain), timeout=5) for _ in range(200)]
    try:
        for number, half in enumerate(halves):
            half.sendall(
                b"POST /mcp HT"
                if number % 2
                else b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{"
            )
        async with client_of(plain, None) as client:
            told = error(await client.call_tool("improve_text", {"text": "x" * 5_000_000}))
    finally:
        for half in halves:
            half.close()
    assert f"at most {MAX_TEXT:,} are allowed" in told


async def test_a_client_that_dawdles_is_dropped(
    plain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "patience", 0.2)
    for half in (
        b"",
        b"POST /mcp HTTP/1.1\r\nhost: loc",
        b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{",
    ):
        with anyio.fail_after(60):
            async with await anyio.connect_tcp(*place(plain)) as connection:
                if half:
                    await connection.send(half)
                await hung_up(connection)


@contextmanager
def answering(app: ASGIApp) -> Generator[tuple[str, int]]:
    """The address at which an application is served with patience."""
    config = uvicorn.Config(app, http=PatientProtocol, log_config=None, lifespan="off")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        in_thread(uvicorn.Server(config), listener),
    ):
        yield "127.0.0.1", listener.getsockname()[1]


async def test_a_long_answer_is_not_cut_short_by_that(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, dropped = threading.Event(), threading.Event()

    async def in_its_own_time(_: Request) -> Response:
        asked.set()
        return Response(str(await anyio.to_thread.run_sync(dropped.wait, 100)))

    monkeypatch.setattr(PatientProtocol, "patience", 0.3)
    app = Starlette(routes=[Route("/", in_its_own_time)])
    with answering(app) as address, anyio.fail_after(30):
        answers: list[str] = []

        async def ask() -> None:
            async with httpx2.AsyncClient(timeout=30) as http:
                answers.append((await http.get(f"http://127.0.0.1:{address[1]}/")).text)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            assert await anyio.to_thread.run_sync(asked.wait, 100)
            # Who comes later and is dropped shows that the patience with the first has run out.
            async with await anyio.connect_tcp(*address) as connection:
                await hung_up(connection)
            dropped.set()
        assert answers == ["True"]


@pytest.mark.parametrize("answered", [True, False], ids=["being answered", "not answered yet"])
async def test_a_body_that_breaks_off_in_nonsense_ends_the_connection_and_no_more(
    caplog: pytest.LogCaptureFixture, answered: bool
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if answered:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    with answering(app) as address, anyio.fail_after(30):
        async with await anyio.connect_tcp(*address) as connection:
            await connection.send(
                b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            told = await connection.receive() if answered else b""
            await connection.send(b"nonsense\r\n")
            with suppress(anyio.EndOfStream):
                while True:
                    told += await connection.receive()
    assert told.startswith(b"HTTP/1.1 200" if answered else b"HTTP/1.1 400")
    assert told.count(b"HTTP/1.1") == 1
    assert [r.name for r in caplog.records if r.levelname == "ERROR"] == []


async def test_an_idle_connection_stays_open_longer_than_a_proxy_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert serve.KEEP_ALIVE_SECONDS > 75
    monkeypatch.setattr(serve, "KEEP_ALIVE_SECONDS", 0.2)
    with served(tmp_path) as url, anyio.fail_after(60):
        async with await anyio.connect_tcp(*place(url)) as connection:
            await connection.send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert (await connection.receive()).startswith(b"HTTP/1.1 200")
            await hung_up(connection)


def place(url: str) -> tuple[str, int]:
    host, port = url.split("/")[2].split(":")
    return host, int(port)


async def hung_up(connection: anyio.abc.ByteStream) -> None:
    """Return when the server has closed the connection."""
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            await connection.receive()


async def post(url: str, token: str, tool: str, arguments: Mapping[str, Any]) -> httpx2.Response:
    question = asking("tools/call", name=tool, arguments=arguments)
    headers = question["headers"] | bearer(token)
    async with httpx2.AsyncClient(timeout=300) as http:
        return await http.post(url, json=question["json"], headers=headers)


@pytest.mark.slow
async def test_another_tenant_is_answered_before_expensive_requests_are(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    mallory, alice = grant_token(tokens, "mallory"), grant_token(tokens, "alice")
    pattern = {"type": "regex", "must_match": ["line"]}
    answered: list[httpx2.Response] = []
    with http_server(tmp_path, SIFAKA_AUTH_TOKENS_FILE=str(tokens)) as (url, _):
        async with client_of(url, alice) as client:
            for kind in ("schemas that double", "patterns that backtrack"):
                tool, arguments = KINDS[kind]

                async def fire(tool: str = tool, asked: Mapping[str, Any] = arguments) -> None:
                    answered.append(await post(url, mallory, tool, asked))

                async with anyio.create_task_group() as group:
                    for _ in range(8):
                        group.start_soon(fire)
                    for _ in range(5):
                        rules = {"text": "A line.", "validators": [pattern]}
                        answer = await client.call_tool("validate_text", rules)
                        assert answer.structured_content
                        assert answer.structured_content["passed"]
                    assert not answered, kind  # each of the eight takes minutes of processor time
                    group.cancel_scope.cancel()
            # A pattern that would take gigabytes is refused.
            tool, arguments = KINDS["patterns that repeat without end"]
            told = error(await client.call_tool(tool, dict(arguments)))
    assert "'a{1000000000}' repeats too much: 1000000000 parts, at most 10000" in told
