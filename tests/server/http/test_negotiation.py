"""The wire as clients of all kinds use it: marks, types, slashes and batches."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.stubs.served import served

CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {
        "name": "validate_text",
        "arguments": {"text": "a b c", "validators": [{"type": "length", "max_words": 2}]},
    },
}
JSON, EVENTS = "application/json", "text/event-stream"


@pytest.fixture(params=[False, True], ids=["stateless", "sessions"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with served(tmp_path, sessions=request.param) as url:
        yield url


def post(url: str, body: Any, accept: str | None, **headers: str) -> httpx2.Response:
    told = {"content-type": JSON, "mcp-protocol-version": "2025-06-18", **headers}
    with httpx2.Client(headers={"accept": ""}) as client:
        del client.headers["accept"]
        if accept is not None:
            told["accept"] = accept
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return client.post(url, content=content, headers=told)


def session(url: str) -> dict[str, str]:
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = post(url, hello, JSON)
    assert answer.json()["result"]["serverInfo"]["name"] == "sifaka"
    found = answer.headers.get("mcp-session-id")
    return {} if found is None else {"mcp-session-id": found}


def read(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    if answer.headers["content-type"].startswith(JSON):
        assert int(answer.headers["content-length"]) == len(answer.content)
        return answer.json()
    lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
    return json.loads(lines[-1].removeprefix("data:"))


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (JSON, JSON),
        ("application/*", JSON),
        (f"{JSON};q=0.9, text/html", JSON),
        (EVENTS, EVENTS),
        ("*/*", EVENTS),
        (None, EVENTS),
        (f"{JSON}, {EVENTS}", EVENTS),
    ],
)
def test_the_answer_is_of_the_type_that_is_taken(url: str, accept: str | None, kind: str) -> None:
    answer = post(url, CALL, accept, **session(url))
    assert answer.headers["content-type"].startswith(kind)
    found = read(answer)
    assert found["id"] == 7
    assert found["result"]["structuredContent"]["passed"] is False


def test_another_type_is_not_acceptable(url: str) -> None:
    assert post(url, CALL, "text/html", **session(url)).status_code == 406


def test_the_address_with_a_slash_is_answered_in_place(url: str) -> None:
    assert read(post(f"{url}/", CALL, JSON, **session(url)))["id"] == 7


def test_a_byte_order_mark_is_no_part_of_a_message(url: str) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(CALL).encode()
    assert read(post(url, body, JSON, **session(url)))["id"] == 7


@pytest.mark.parametrize("body", [b"[]", b" \n[1]", json.dumps([CALL, CALL]).encode()])
def test_a_batch_is_answered_with_what_to_do(url: str, body: bytes) -> None:
    answer = post(url, body, JSON, **session(url))
    assert answer.status_code == 400
    assert answer.json()["id"] is None
    assert "send each one by itself" in answer.json()["error"]["message"]


def test_errors_and_notifications_are_answered_as_before(url: str) -> None:
    told = session(url)
    unknown: dict[str, Any] = {**CALL, "params": {"name": "make_coffee", "arguments": {}}}
    assert read(post(url, unknown, JSON, **told))["error"]["code"] == -32602
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert post(url, note, JSON, **told).status_code == 202
