"""The view of operators: health, numbers, spans, logs, starting and stopping."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client

from sifaka.errors import ConfigurationError
from sifaka_mcp.cli import run
from sifaka_mcp.http.monitoring import public_name
from sifaka_mcp.http.serve import serve_http
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.http import is_loopback
from tests.stubs.calls import call
from tests.stubs.collector import collector
from tests.stubs.issuer import issuer
from tests.stubs.provider import Reply, fails, provider, says
from tests.stubs.redis_server import redis_server
from tests.stubs.served import asking, bearer, client_of, grant_token, pinging, served
from tests.stubs.servers import environment, http_server, stdio_server

pytestmark = pytest.mark.anyio


MODEL = "openai-chat:stub"
REFUND = {"type": "content", "required": ["refund"]}


def beside(url: str, path: str) -> str:
    return url.replace("/mcp", path)


@pytest.mark.slow
async def test_a_server_whose_store_is_away_is_alive_and_not_ready(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with redis_server(password="s3cret") as redis:
        store = redis.url.replace("//", "//:s3cret@")
        with served(tmp_path, store=store) as url:
            async with httpx2.AsyncClient() as http:
                ready = await http.get(beside(url, "/readyz"))
                assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
                redis.kill()
                with anyio.fail_after(20):
                    # What it found is good for a second.
                    while (ready := await http.get(beside(url, "/readyz"))).status_code == 200:
                        await anyio.lowlevel.checkpoint()
                assert ready.status_code == 503
                assert ready.json() == {
                    "status": "unavailable",
                    "reason": "the store does not answer",
                }
                assert (await http.get(beside(url, "/healthz"))).status_code == 200
    told = [r.getMessage() for r in caplog.records if "not ready" in r.getMessage()]
    assert len(told) == 1
    assert "s3cret" not in caplog.text


async def test_numbers_are_told_without_any_name_made_up(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens) as url:
        rule = {"type": "length", "max_words": 50, "name": "project-nightingale"}
        async with client_of(url, alice) as client:
            done = await call(client, "improve_text", text="This is is it.", validators=[rule])
        async with httpx2.AsyncClient() as http:
            await http.get(beside(url, "/made-up/alice"))
            await http.post(url, **asking())
            assert (await http.get(beside(url, "/metrics"))).status_code == 401
            answer = await http.get(beside(url, "/metrics"), headers=bearer(alice))
    assert answer.headers["content-type"].startswith("text/plain")
    numbers = dict(re.findall(r"^(sifaka_\S+) (\S+)$", answer.text, re.MULTILINE))
    assert float(numbers['sifaka_http_requests_total{path="other",status="404"}']) == 1
    assert float(numbers['sifaka_http_requests_total{path="/mcp",status="401"}']) == 1
    assert float(numbers['sifaka_http_requests_total{path="/mcp",status="200"}']) >= 1
    assert float(numbers['sifaka_http_request_seconds_count{path="/mcp"}']) >= 2
    assert float(numbers["sifaka_runs_in_progress"]) == 0
    assert float(numbers['sifaka_component_calls_total{kind="run",name="run"}']) == 1
    assert float(numbers['sifaka_component_calls_total{kind="validator",name="custom"}']) >= 1
    assert "process_cpu_seconds_total" in answer.text
    for secret in ("alice", "nightingale", done["run_id"], "made-up", alice):
        assert secret not in answer.text


def test_what_a_caller_made_up_is_no_label() -> None:
    assert public_name("model", "openai:gpt-5") == "openai"
    assert public_name("critic", "self_refine") == "self_refine"
    assert public_name("critic", "my own") == "custom"
    assert public_name("validator", "length") == "length"
    assert public_name("validator", "my own") == "custom"
    assert public_name("phase", "write") == "write"


@pytest.mark.slow
async def test_runs_in_progress_are_counted_and_answered_in_the_end(tmp_path: Path) -> None:
    asked, stopping = threading.Event(), threading.Event()

    def in_its_own_time() -> Iterator[Reply]:
        asked.set()
        assert stopping.wait(timeout=100)
        yield says("A refund.")

    with provider(in_its_own_time()) as models:
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": models.url}
        with http_server(tmp_path, **key) as (url, process), anyio.fail_after(60):
            arguments = {"text": "x", "validators": [REFUND], "model": MODEL, "critics": ["lint"]}
            results: list[dict[str, Any]] = []

            async def improve() -> None:
                async with client_of(url, None) as client:
                    await client.list_tools()  # or it would ask for them when it has the answer
                    results.append(await call(client, "improve_text", **arguments))

            async with anyio.create_task_group() as group:
                group.start_soon(improve)
                assert await anyio.to_thread.run_sync(asked.wait, 100)
                async with httpx2.AsyncClient() as http:
                    numbers = (await http.get(beside(url, "/metrics"))).text
                    assert "sifaka_runs_in_progress 1.0" in numbers
                process.send_signal(signal.SIGTERM)
                port = int(url.split(":")[2].partition("/")[0])
                await anyio.to_thread.run_sync(refused, port)
                stopping.set()
            assert results[0]["text"] == "A refund.", "who waited was answered, when it was done"
            code = await anyio.to_thread.run_sync(process.wait, 100)
            assert code == -signal.SIGTERM
            assert not (tmp_path / "sifaka.db-wal").exists(), "the store was closed"


def refused(port: int) -> None:
    """Return when the port is closed."""
    while True:
        with suppress(ConnectionResetError):  # it waited in the queue when the server stopped
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
            except ConnectionRefusedError:
                return


@pytest.mark.parametrize(
    ("arguments", "environ", "said"),
    [
        (["--host", "0.0.0.0"], {}, "or accept requests without a token with --allow-anonymous"),  # noqa: S104 - that is the point
        (["--host", "0.0.0.0"], {"OAUTH_ISSUER": "https://issuer.example"}, "SIFAKA_PUBLIC_URL"),  # noqa: S104 - the same
        ([], {"AUTH_TOKENS_FILE": "/no/tokens"}, "cannot be read: No such file"),
        (["--host", "no.such.host.invalid"], {}, "cannot listen on no.such.host.invalid"),
    ],
)  # fmt: skip
def test_a_server_that_would_let_in_the_wrong_people_does_not_start(
    arguments: list[str],
    environ: dict[str, str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(f"SIFAKA_{name}", value)
    assert run(["serve", "--transport", "http", "--port", "0", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@pytest.mark.slow
async def test_beyond_loopback_it_listens_when_it_was_told_who_may_use_it(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    grant_token(tokens, "alice")
    everywhere = ["--host", "0.0.0.0"]  # noqa: S104 - that is the point
    said: dict[str, str] = {}

    async def start(name: str, *arguments: str, **more: str) -> None:
        said[name] = await anyio.to_thread.run_sync(lambda: started(tmp_path, *arguments, **more))

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: start("tokens", *everywhere, "--auth-tokens-file", str(tokens)))
        group.start_soon(lambda: start("all", *everywhere, SIFAKA_ALLOW_ANONYMOUS="true"))
    assert all(first.startswith("sifaka: listening on http://0.0.0.0:") for first in said.values())


@pytest.mark.slow
@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_the_other_loopback_is_loopback_too(tmp_path: Path) -> None:
    said = started(tmp_path, "--host", "::1")
    if "cannot listen" in said:
        pytest.skip("no IPv6 loopback")
    assert said.startswith("sifaka: listening on http://[::1]:")


def test_a_name_is_local_only_when_all_its_addresses_are(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))
    others = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 0))

    def both(*_: object, **__: object) -> list[object]:
        return [mine, others]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(ConfigurationError, match="can be reached from other machines"):
        serve_http(Settings(store="memory:"), "sifaka.test", 0)
    assert is_loopback("::ffff:127.0.0.1")
    assert is_loopback("localhost")
    assert not is_loopback("::ffff:192.0.2.7")


def started(home: Path, *arguments: str, **more: str) -> str:
    """The first line of a server."""
    command = [sys.executable, "-m", "sifaka_mcp", "--transport", "http", "--port", "0", *arguments]
    with subprocess.Popen(
        command, env=environment(home, **more), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.kill()
        return first


@pytest.mark.slow
async def test_a_token_is_in_no_log_line_no_error_and_no_record(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = grant_token(tokens, "alice")
    wrong = "opaque" + "w" * 43  # nothing by which a log could tell that it is a token
    home = tmp_path / "home"
    answers: list[str] = []
    said: list[str] = []
    with (
        issuer() as told,
        logging_server(
            home,
            said,
            SIFAKA_LOG_LEVEL="DEBUG",
            SIFAKA_AUTH_TOKENS_FILE=str(tokens),
            SIFAKA_OAUTH_ISSUER=told.url,
        ) as url,
    ):
        async with client_of(url, alice) as client:
            done = await client.call_tool("improve_text", {"text": "This is it."})
            failed = await client.call_tool("resume_run", {"run_id": "run_unknown"})
            answers += [repr(done), repr(failed)]
        async with httpx2.AsyncClient() as http:
            for token in (alice, wrong):
                headers = pinging(token)["headers"]
                for answer in (
                    await http.post(url, **pinging(token)),
                    await http.post(f"{url}?q={token}", **asking()),
                    await http.post(url, content=f"{{{token}", headers=headers),
                    await http.post(url, json={"method": token}, headers=headers),
                    await http.get(url, headers=headers),
                    await http.put(url, headers=headers),
                    await http.get(beside(url, f"/{token}"), headers=headers),
                    await http.get(beside(url, "/metrics"), headers=headers),
                    await http.get(beside(url, "/metrics"), headers=headers | {"host": "x"}),
                ):
                    answers.append(f"{answer.headers} {answer.text}")
    records = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"This is it" in records
    for token in (alice, wrong):
        # What a client puts into a method's name comes back to it as such.
        assert token not in "".join(said)
        assert token not in "".join(answers).replace(f"Unknown method: {token}", "")
        assert token.encode() not in records


@contextmanager
def logging_server(home: Path, said: list[str], **settings: str) -> Generator[str]:
    """A server whose every line is kept; it is told to stop at the end."""
    command = [sys.executable, "-m", "sifaka_mcp", "--transport", "http", "--port", "0"]
    listening = threading.Event()

    def listen(lines: Iterable[str]) -> None:
        for line in lines:
            said.append(line)
            if "listening on" in line:
                listening.set()

    with subprocess.Popen(
        command, env=environment(home, **settings), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        reader = threading.Thread(target=listen, args=(process.stderr,))
        reader.start()
        try:
            assert listening.wait(timeout=100)
            found = re.search(r"listening on (\S+)", "".join(said))
            assert found
            yield found[1]
        finally:
            process.terminate()
            reader.join(timeout=100)


def test_what_modules_hold_is_looked_through_for_garbage_once() -> None:
    program = """if True:
        import gc
        from sifaka_mcp.garbage_collection import collect_less

        collect_less()
        frozen = [gc.get_freeze_count()]
        for module in ("wave", "wave", "mailbox"):
            __import__(module)
            gc.collect()
            frozen.append(gc.get_freeze_count())
        start, first, again, more = frozen
        assert start == 0 < first == again < more, frozen
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


TEXT = "You may return it, says the nightingale."
ARGUMENTS = {
    "text": TEXT,
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": "openai-chat:stub",
    "critics": ["lint"],
}


@pytest.mark.slow
async def test_a_server_sends_spans_counts_costs_and_logs_requests(tmp_path: Path) -> None:
    replies = [says("A refund.", tokens=(120, 7))] * 20
    with collector() as receiver, provider(replies) as models:
        settings = {
            "OPENAI_API_KEY": "sk-test-key",
            "OPENAI_BASE_URL": models.url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
            "SIFAKA_ACCESS_LOG": "true",
            "SIFAKA_LOG_FORMAT": "json",
        }
        with http_server(tmp_path, **settings) as (url, process), anyio.fail_after(100):
            async with client_of(url, None) as client:
                done = await client.call_tool("improve_text", ARGUMENTS)
                assert done.structured_content is not None
            async with httpx2.AsyncClient() as http:
                told = await http.get(url.replace("/mcp", "/metrics"))
                await http.get(url.replace("/mcp", "/nightingale?token=sk-secret"))
            process.send_signal(signal.SIGTERM)
            log = await anyio.to_thread.run_sync(lambda: process.communicate(timeout=60)[1])
        asked = len(models.requests)

    numbers = dict(re.findall(r"^(sifaka_model\S+) (\S+)$", told.text, re.MULTILINE))
    tokens = 'sifaka_model_tokens_total{provider="openai",type="%s"}'
    assert float(numbers[tokens % "input"]) == 120 * asked > 0
    assert float(numbers[tokens % "output"]) == 7 * asked
    unpriced = 'sifaka_model_calls_unpriced_total{provider="openai"}'
    assert float(numbers[unpriced]) == asked
    assert float(numbers['sifaka_model_cost_usd_total{provider="openai"}']) == 0

    calls = [span for span in receiver.spans if span["name"] == "chat stub"]
    assert len(calls) == asked
    assert {span["kind"] for span in calls} == {"SPAN_KIND_CLIENT"}
    host, port = models.url.split("//")[1].split("/")[0].split(":")
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "stub",
        "gen_ai.response.model": "stub",
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 7,
        "server.address": host,
        "server.port": int(port),
    }
    assert expected.items() <= receiver.attributes("chat stub").items()
    parents = {span["spanId"]: span["name"] for span in receiver.spans}
    assert all(parents[span["parentSpanId"]].startswith("sifaka.") for span in calls)
    assert receiver.services == {"sifaka-mcp"}
    assert not [body for body in receiver.bodies if b"nightingale" in body or b"sk-" in body]

    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    requests = [line for line in lines if line["component"] == "access"]
    assert {("POST", "/mcp", 200), ("GET", "/metrics", 200), ("GET", "other", 404)} <= {
        (line["method"], line["path"], line["status"]) for line in requests
    }
    assert all(line["client"] == "127.0.0.1" and line["ms"] > 0 for line in requests)
    assert "nightingale" not in log
    assert "sk-" not in log


@pytest.mark.slow
async def test_over_stdio_a_span_of_a_failed_call_has_its_type(tmp_path: Path) -> None:
    with collector() as receiver, provider([fails(401)] * 10) as models:
        parameters = stdio_server(
            tmp_path,
            OPENAI_API_KEY="sk-test-key",
            OPENAI_BASE_URL=models.url,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
            OTEL_SERVICE_NAME="mine",
        )
        with anyio.fail_after(100):
            async with Client(parameters) as client:
                await client.call_tool("improve_text", ARGUMENTS)
            while not any(span["name"] == "chat stub" for span in receiver.spans):
                await anyio.lowlevel.checkpoint()
    told = receiver.attributes("chat stub")
    assert told["error.type"] == "ModelAuthenticationError"
    assert "gen_ai.response.id" not in told
    assert receiver.services == {"mine"}


@pytest.mark.slow
async def test_a_collector_that_is_away_holds_nothing_up(tmp_path: Path) -> None:
    parameters = stdio_server(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    with anyio.fail_after(60):
        async with Client(parameters) as client:
            done = await client.call_tool("improve_text", {"text": "We ship the the goods ."})
    assert not done.is_error
