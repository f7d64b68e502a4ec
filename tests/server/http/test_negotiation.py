"""The wire as clients of all kinds use it: header fields, marks, types, slashes and batches."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.stubs.served import served
from tests.stubs.servers import HELLO

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


@pytest.fixture(scope="module", params=[False, True], ids=["stateless", "sessions"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("home"), sessions=request.param) as url:
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
    answer = post(url, {"jsonrpc": "2.0", **HELLO}, JSON)
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


def test_slashes_and_byte_order_marks_change_nothing(url: str) -> None:
    told = session(url)
    assert post(url, CALL, "text/html", **told).status_code == 406
    assert read(post(f"{url}/", CALL, JSON, **told))["id"] == 7
    body = b"\xef\xbb\xbf" + json.dumps(CALL).encode()
    assert read(post(url, body, JSON, **told))["id"] == 7


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


REQUEST: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "validate_text",
        "arguments": {"text": "One", "validators": [{"type": "length", "max_words": 1}]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


def sent(url: str, head: str, body: str) -> tuple[bytes, bytes]:
    """The status and the rest of the answer to a request that is sent as it stands."""
    place = urlsplit(url)
    first = f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
    fields = (
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
    )
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(f"{first}{fields}{head}\r\n{body}".encode())
        with connection.makefile("rb") as answer:
            return answer.readline().split()[1], answer.read()


def test_fields_are_read_without_whitespace_and_before_the_body_alone(tmp_path: Path) -> None:
    body = json.dumps(REQUEST)
    named, chunked = "Mcp-Name: validate_text\r\n", "Transfer-Encoding: chunked\r\n"
    with served(tmp_path) as url:
        for name in ("validate_text", " \tvalidate_text \t"):
            head = f"Content-Length: {len(body)}\r\nMcp-Name:{name}\r\n"
            status, answer = sent(url, head, body)
            assert (status, b'"passed":true' in answer) == (b"200", True)
        for before, behind, status in ((named, "", b"200"), ("", named, b"400")):
            chunks = f"{len(body):x}\r\n{body}\r\n0\r\n{behind}\r\n"
            assert sent(url, f"{chunked}{before}", chunks)[0] == status
