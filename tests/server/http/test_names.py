"""Host and Origin headers, pages in browsers, proxies, and the wire as all clients use it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from sifaka_mcp.tenancy import caller_of
from tests.stubs.served import grant_token, pinging, served
from tests.stubs.servers import HELLO

pytestmark = pytest.mark.anyio


PAGE = "https://app.example"


async def test_only_the_servers_own_names_are_answered(tmp_path: Path) -> None:
    settings = {
        "allowed_hosts": "a.example:*,b.example:8443,c.example",
        "public_url": "https://sifaka.example/mcp",
    }
    with served(tmp_path, **settings) as url:
        async with httpx2.AsyncClient() as http:
            for host, status in {
                "a.example:1": 200,
                "b.example:8443": 200,
                "c.example": 200,
                "sifaka.example": 200,
                "localhost": 200,
                "[::1]:8000": 200,
                "a.example": 200,
                "A.EXAMPLE:2": 200,
                "c.example:80": 200,
                "c.example:443": 200,
                "Sifaka.Example:443": 200,
                "b.example": 421,
                "c.example:8080": 421,
                "localhost:1@evil.example": 421,
                "localhost:1.evil.example": 421,
                "localhost:99999": 421,
                "http://localhost": 421,
                "sifaka.example.evil.example": 421,
                "evil.example": 421,
                "localhost.evil.example:80": 421,
                "169.254.169.254": 421,
            }.items():
                answer = await http.post(url, **pinging(host=host))
                assert answer.status_code == status, host
                numbers = await http.get(url.replace("/mcp", "/metrics"), headers={"host": host})
                assert numbers.status_code == status, host


async def test_only_pages_of_its_own_names_are_answered(tmp_path: Path) -> None:
    with served(tmp_path, allowed_hosts="a.example:*", cors_origins=PAGE) as url:
        async with httpx2.AsyncClient() as http:
            for origin, status in {
                "http://localhost:3000": 200,
                "https://a.example:3000": 200,
                PAGE: 200,
                "http://localhost:80": 200,
                "HTTP://LOCALHOST:3000": 200,
                "http://localhost:1@evil.example": 403,
                "http://localhost:1.evil.example": 403,
                "localhost": 403,
                "ftp://localhost": 403,
                f"{PAGE}:80": 403,
                f"{PAGE}:8443": 403,
                f"{PAGE}.evil.example": 403,
                "http://app.example": 403,
                "https://evil.example": 403,
                "null": 403,
            }.items():
                answer = await http.post(url, **pinging(origin=origin))
                assert answer.status_code == status, origin
                allowed = answer.headers.get("access-control-allow-origin")
                assert allowed == (PAGE if origin == PAGE else None)


async def test_a_page_may_ask_before_it_has_a_token_what_it_may_send(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens, cors_origins=PAGE) as url:
        asked = {
            "origin": PAGE,
            "access-control-request-method": "POST",
            "access-control-request-headers": (
                "authorization,content-type,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name"
            ),
        }
        async with httpx2.AsyncClient() as http:
            preflight = await http.options(url, headers=asked)
            assert preflight.status_code == 200
            assert preflight.headers["access-control-allow-origin"] == PAGE
            allowed = preflight.headers["access-control-allow-headers"].lower()
            assert all(name in allowed for name in ("authorization", "mcp-protocol-version"))
            foreign = await http.options(url, headers=asked | {"origin": "https://evil.example"})
            assert foreign.status_code == 400
            assert "access-control-allow-origin" not in foreign.headers
            refused = await http.post(url, **pinging(origin=PAGE))
            assert refused.status_code == 401
            assert refused.headers["access-control-allow-origin"] == PAGE, "the page may read why"
            assert "www-authenticate" in refused.headers["access-control-expose-headers"]
            answer = await http.post(url, **pinging(alice, origin=PAGE))
            assert answer.status_code == 200
            assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
            assert "access-control-allow-credentials" not in answer.headers


async def test_health_is_told_under_any_name_and_nothing_to_pages(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        async with httpx2.AsyncClient() as http:
            for path in ("/healthz", "/readyz"):  # load balancers ask by address
                address = {"host": "10.1.2.3:8000"}
                answer = await http.get(url.replace("/mcp", path), headers=address)
                assert answer.status_code == 200
            asked = {"origin": "http://localhost:1", "access-control-request-method": "POST"}
            answer = await http.options(url, headers=asked)
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("trusted", "told", "statuses"),
    [
        ("", ["203.0.113.1", "203.0.113.2", "203.0.113.3"], [200, 429, 429]),
        ("127.0.0.1", ["203.0.113.1", "203.0.113.2", "203.0.113.3"], [200, 200, 200]),
        # What is no address is one caller; where nothing is told, it is the proxy that asks.
        ("127.0.0.1", ["x", "203.0.113.9991", "203.0.113.999", "unknown", "-"], [200, *[429] * 4]),
        ("127.0.0.1", ["x", "", ""], [200, 200, 429]),
    ],
)
async def test_an_address_that_a_proxy_tells_counts_only_when_the_proxy_is_trusted(
    tmp_path: Path, trusted: str, told: list[str], statuses: list[int]
) -> None:
    with served(tmp_path, rate_limit="1/hour", trusted_proxies=trusted) as url:
        async with httpx2.AsyncClient() as http:
            answers = [await http.post(url, **pinging(x_forwarded_for=each)) for each in told]
    assert [answer.status_code for answer in answers] == statuses


def test_addresses_of_one_site_are_one_caller() -> None:
    def callers(*hosts: str) -> set[str]:
        return {caller_of({"type": "http", "client": (host, 1)}) for host in hosts}

    assert len(callers("2001:db8::1", "2001:db8::ffff", "[2001:db8::2]:443", "2001:DB8:0::9")) == 1
    assert len(callers("10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1:8080", "::ffff:a00:1")) == 1
    assert len(callers("unknown", "x", "1.2.3.4.5", "", "_hidden")) == 1
    assert len(callers("2001:db8::1", "2001:db8:1::1", "10.0.0.1", "10.0.0.2", "unknown")) == 5


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
