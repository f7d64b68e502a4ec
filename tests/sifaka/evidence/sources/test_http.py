"""Requests of the HTTP client, and answers to it."""

import gzip
import json
from typing import Any

import anyio
import pytest

from sifaka.errors import ConfigurationError, SourceError
from sifaka.evidence.sources.http import HttpClient, Retrying
from tests.stubs.sources import answered, json_reply, never, refusal, reply, source

pytestmark = pytest.mark.anyio

ONCE = Retrying(attempts=1)


async def test_a_path_below_the_base_is_asked_with_parameters_and_headers() -> None:
    async with source([json_reply({"found": 3})]) as served:
        assert await answered(
            HttpClient(f"{served.url}/solr/", adapter="wiki", headers={"X-Key": "k"}),
            "/books/a b",
            {"q": "ö&x", "rows": 3},
        ) == {"found": 3}
    [request] = served.requests
    assert request.target == "/solr/books/a%20b?q=%C3%B6%26x&rows=3"
    assert request.headers["x-key"] == "k"
    assert request.headers["user-agent"].startswith("sifaka-mcp")


async def test_the_base_itself_is_asked_without_a_path() -> None:
    async with source([json_reply([])]) as served:
        assert await answered(HttpClient(f"{served.url}/w/api.php", adapter="wiki")) == []
    assert served.requests[0].target == "/w/api.php"


async def test_a_search_with_a_body_is_posted() -> None:
    async with source([json_reply({"hits": []})]) as served:
        client = HttpClient(served.url, adapter="wiki")
        await client.post("i/_search", {"size": 1})
        await client.aclose()
    [request] = served.requests
    assert (request.method, request.target) == ("POST", "/i/_search")
    assert json.loads(request.body) == {"size": 1}


async def test_user_and_password_of_the_url_are_sent_and_never_shown() -> None:
    async with source([reply(status=500)]) as served:
        base = f"http://ann:s3cret-word@127.0.0.1:{served.port}/x"
        client = HttpClient(base, adapter="wiki", retrying=ONCE)
        assert client.place == f"{served.url}/x"
        error = await refusal(client, "y", {"token": "hush-hush"})
    assert served.requests[0].headers["authorization"] == "Basic YW5uOnMzY3JldC13b3Jk"
    assert "s3cret" not in str(error) + repr(vars(client))
    assert "hush" not in str(error)
    assert f"wiki: {served.url}/x/y answered with status 500" in str(error)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "authentication"),
        (403, "authentication"),
        (404, "not_found"),
        (408, "timeout"),
        (422, "rejected"),
        (429, "rate_limit"),
        (500, "server"),
        (503, "server"),
    ],
)
async def test_each_status_has_its_code(status: int, code: str) -> None:
    async with source([reply("no", status=status, content_type="text/plain")]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", retrying=ONCE))
    assert error.code == code
    assert error.retryable == (code in SourceError.TRANSIENT)


async def test_what_a_source_says_about_a_request_it_rejects_is_told() -> None:
    told = json_reply({"error": "no field\n 'bdoy'"}, status=400)
    async with source([told]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki"))
    assert error.code == "rejected"
    assert "no field" in error.message


@pytest.mark.parametrize(
    "path", ["../secret", "a/../../b", "%2e%2e/b", "a\\..\\b", "a?b=c", "a#b", "a\r\nX: y"]
)
async def test_no_path_leaves_the_base(path: str) -> None:
    async with source([json_reply({})]) as served:
        error = await refusal(HttpClient(f"{served.url}/x", adapter="wiki"), path)
    assert error.code == "forbidden"
    assert served.requests == []


@pytest.mark.parametrize("path", ["//evil.example/a", "http://evil.example/a", "@evil.example"])
async def test_what_looks_like_another_place_is_a_path_of_the_base(path: str) -> None:
    async with source([json_reply({})]) as served:
        await answered(HttpClient(f"{served.url}/x", adapter="wiki"), path)
    assert served.requests[0].target.startswith("/x/")


@pytest.mark.parametrize(
    "base",
    [
        "",
        "localhost:80",
        "ftp://x/",
        "file:///etc/passwd",
        "http://",
        "http://x:99999/",
        "http://x/?a=b",
        "http://x/#a",
        "http://x y/",
    ],
)
def test_a_base_that_is_no_place_of_the_web_is_refused_at_once(base: str) -> None:
    with pytest.raises(ConfigurationError, match="wiki"):
        HttpClient(base, adapter="wiki")


def test_a_header_that_cannot_be_sent_is_refused_at_once_and_not_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        HttpClient("http://x/", adapter="wiki", headers={"X-Key": "abc\r\nX: y"})
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_no_time_to_answer_in_is_refused_at_once(seconds: float) -> None:
    with pytest.raises(ConfigurationError):
        HttpClient("http://x/", adapter="wiki", seconds=seconds)


async def test_a_closed_port_is_told_in_one_line() -> None:
    async with source([b""]) as served:
        pass
    error = await refusal(HttpClient(served.url, adapter="wiki", retrying=ONCE))
    assert error.code == "connection"


async def test_an_unknown_host_is_told_in_one_line() -> None:
    client = HttpClient("http://nowhere.invalid/", adapter="wiki", retrying=ONCE)
    assert (await refusal(client)).code == "connection"


async def test_a_source_that_does_not_answer_runs_out_of_its_time() -> None:
    async with source([never]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", seconds=0.2))
    assert error.code == "timeout"
    assert "within 0.2 s" in error.message


async def test_a_source_that_trickles_runs_out_of_its_time() -> None:
    async def trickle(stream: Any) -> None:
        await stream.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        while True:
            await stream.send(b" ")
            await anyio.sleep(0.01)

    async with source([trickle]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", seconds=0.3))
    assert error.code == "timeout"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>hello</html>", "text/html; charset=utf-8"),
        (b"{", "application/json"),
        (b"", "application/json"),
        (b"[" * 200_000, "application/json"),
        (b"\xff\xfe\x00", "application/json"),
        (b"\x89PNG", "image/png"),
        (b"%PDF-1.7", "application/pdf"),
        (b"MZ\0\0", "text/plain"),
    ],
)
async def test_what_is_no_json_is_malformed(body: bytes, kind: str) -> None:
    async with source([reply(body, content_type=kind)]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki"))
    assert error.code == "malformed"
    assert len(served.requests) == 1


async def test_a_broken_compression_is_malformed() -> None:
    broken = reply(b"no gzip", content_type="application/json", content_encoding="gzip")
    async with source([broken]) as served:
        assert (await refusal(HttpClient(served.url, adapter="wiki"))).code == "malformed"


async def test_compressed_answers_are_unpacked() -> None:
    packed = gzip.compress(b'{"a": 1}')
    answer = reply(packed, content_type="application/json", content_encoding="gzip")
    async with source([answer]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki")) == {"a": 1}
