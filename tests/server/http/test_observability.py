"""What operators see of a server: spans of model calls, tokens and money, and a line a request."""

import json
import re
import signal
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client

from tests.stubs.collector import collector
from tests.stubs.provider import fails, provider, says
from tests.stubs.served import client_of
from tests.stubs.servers import http_server, stdio_server

pytestmark = pytest.mark.anyio
TEXT = "You may return it, says the nightingale."
ARGUMENTS = {
    "text": TEXT,
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": "openai-chat:stub",
    "critics": ["lint"],
}


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


async def test_a_collector_that_is_away_holds_nothing_up(tmp_path: Path) -> None:
    parameters = stdio_server(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    with anyio.fail_after(60):
        async with Client(parameters) as client:
            done = await client.call_tool("improve_text", {"text": "We ship the the goods ."})
    assert not done.is_error
