"""Requests of the HTTP client and answers to it: bounded, asked for again, and given up."""

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream

from sifaka.calls.breakers import Breakers
from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.errors import ConfigurationError, SourceError
from sifaka.evidence.sources.http import HttpClient, Retrying, seconds_asked
from sifaka.record.usage import Budget, Usage
from tests.stubs.sources import Reply, answered, hang_up, json_reply, never, refusal, reply, source

pytestmark = pytest.mark.anyio

ONCE = Retrying(attempts=1)
GOOD = json_reply({"ok": True})


async def test_a_path_below_the_base_is_asked_with_parameters_and_headers() -> None:
    async with source([json_reply({"found": 3})]) as served:
        assert await answered(HttpClient(f"{served.url}/w/api.php", adapter="wiki"))
        assert await answered(
            HttpClient(f"{served.url}/solr/", adapter="wiki", headers={"X-Key": "k"}),
            "/books/a b",
            {"q": "ö&x", "rows": 3},
        ) == {"found": 3}
    [base, request] = served.requests
    assert base.target == "/w/api.php"
    assert request.target == "/solr/books/a%20b?q=%C3%B6%26x&rows=3"
    assert request.headers["x-key"] == "k"
    assert request.headers["user-agent"].startswith("sifaka-mcp")


async def test_a_search_with_a_body_is_posted() -> None:
    async with source([json_reply({"hits": []})]) as served:
        client = HttpClient(served.url, adapter="wiki")
        await client.ask("i/_search", body={"size": 1})
        await client.aclose()
    [request] = served.requests
    assert (request.method, request.target) == ("POST", "/i/_search")
    assert json.loads(request.body) == {"size": 1}


async def test_parameters_are_never_shown() -> None:
    async with source([reply(status=500)]) as served:
        client = HttpClient(f"{served.url}/x", adapter="wiki", retrying=ONCE)
        assert client.endpoint.url == f"{served.url}/x"
        error = await refusal(client, "y", {"token": "hush-hush"})
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
    assert error.error_code == code
    assert error.retryable == (code in SourceError.TRANSIENT)


async def test_what_a_source_says_about_a_request_it_rejects_is_told() -> None:
    told = json_reply({"error": "no field\n 'bdoy'"}, status=400)
    async with source([told]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki"))
    assert error.error_code == "rejected"
    assert "no field" in error.message


@pytest.mark.parametrize(
    "path", ["../secret", "a/../../b", "%2e%2e/b", "a\\..\\b", "a?b=c", "a#b", "a\r\nX: y"]
)
async def test_no_path_leaves_the_base(path: str) -> None:
    async with source([json_reply({})]) as served:
        error = await refusal(HttpClient(f"{served.url}/x", adapter="wiki"), path)
    assert error.error_code == "forbidden"
    assert served.requests == []


@pytest.mark.parametrize("path", ["//evil.example/a", "http://evil.example/a", "@evil.example"])
async def test_what_looks_like_another_place_is_a_path_of_the_base(path: str) -> None:
    async with source([json_reply({})]) as served:
        await answered(HttpClient(f"{served.url}/x", adapter="wiki"), path)
    assert served.requests[0].target.startswith("/x/")


@pytest.mark.parametrize(
    ("base", "options"),
    [
        *((base, {}) for base in ("", "localhost:80", "ftp://x/", "file:///etc/passwd", "http://")),
        *((f"http://x{end}", {}) for end in (":99999/", "/?a=b", "/#a", " y/")),
        ("http://ann:abc@x/", {}),
        ("http://x/", {"headers": {"X-Key": "abc\r\nX: y"}}),
    ],
)
def test_what_is_no_place_of_the_web_and_no_header_is_refused_at_once(
    base: str, options: dict[str, Any]
) -> None:
    with pytest.raises(ConfigurationError, match="wiki") as caught:
        HttpClient(base, adapter="wiki", **options)
    assert "abc" not in str(caught.value)


async def test_a_closed_port_and_an_unknown_host_are_told_in_one_line() -> None:
    async with source([b""]) as served:
        pass
    for base in (served.url, "http://nowhere.invalid/"):
        client = HttpClient(base, adapter="wiki", retrying=ONCE)
        assert (await refusal(client)).error_code == "connection"


async def trickle(stream: Any) -> None:
    """An answer without an end, a little at a time."""
    await stream.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
    while True:
        await stream.send(b" ")
        await anyio.sleep(0.01)


@pytest.mark.parametrize("answer", [never, trickle])
async def test_a_source_that_does_not_answer_or_trickles_runs_out_of_its_time(
    answer: Reply,
) -> None:
    async with source([answer]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", seconds=0.2))
    assert error.error_code == "timeout"
    assert "within 0.2 s" in error.message


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
    assert error.error_code == "malformed"
    assert len(served.requests) == 1


async def test_compressed_answers_are_unpacked_if_they_can_be() -> None:
    broken = reply(b"no gzip", content_type="application/json", content_encoding="gzip")
    async with source([broken]) as served:
        assert (await refusal(HttpClient(served.url, adapter="wiki"))).error_code == "malformed"
    packed = gzip.compress(b'{"a": 1}')
    answer = reply(packed, content_type="application/json", content_encoding="gzip")
    async with source([answer]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki")) == {"a": 1}


LARGE = 50_000_000
LIMIT = 1_000_000
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"


@contextmanager
def at_most(megabytes: int) -> Generator[None]:
    """Within it so much memory may be in use beyond what was before."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 1_000_000
    finally:
        tracemalloc.stop()


async def refused(answer: Reply) -> SourceError:
    async with source([answer]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", largest=LIMIT))
        assert len(served.requests) == 1
    assert error.error_code == "too_large"
    assert "more than 1,000,000 bytes" in str(error)
    return error


async def test_of_a_body_of_50_megabytes_no_more_than_the_limit_is_read() -> None:
    sent = 0

    async def endless(stream: ByteStream) -> None:
        nonlocal sent
        await stream.send(HEAD + b"\r\n")  # it does not say how long it is
        while sent < LARGE:
            await stream.send(b"x" * 10_000)
            sent += 10_000

    with at_most(megabytes=20):
        await refused(endless)
    assert sent < 10 * LIMIT  # what the buffers of the system take is sent, and is not read


async def test_a_body_that_says_it_is_too_large_is_not_read_at_all() -> None:
    async def announce(stream: ByteStream) -> None:
        await stream.send(HEAD + f"content-length: {LARGE}\r\n\r\n".encode())
        await anyio.sleep_forever()

    await refused(announce)


@pytest.mark.slow
async def test_a_small_body_that_unpacks_to_a_huge_one_stays_small_in_memory() -> None:
    bomb = gzip.compress(b"\0" * 4 * LARGE)
    assert len(bomb) < LIMIT
    with at_most(megabytes=10):
        await refused(reply(bomb, content_type="text/plain", content_encoding="gzip"))


@pytest.mark.slow
async def test_a_body_that_is_packed_twice_is_bounded_too() -> None:
    bomb = zlib.compress(gzip.compress(b"\0" * 4 * LARGE))
    with at_most(megabytes=10):
        await refused(reply(bomb, content_type="text/plain", content_encoding="gzip, deflate"))


async def test_a_body_of_just_the_limit_is_read() -> None:
    body = b"x" * (LIMIT - 2)
    async with source([reply(b'"%b"' % body, content_type="text/plain")]) as served:
        client = HttpClient(served.url, adapter="wiki", largest=LIMIT)
        assert len(await client.ask()) == LIMIT - 2
        await client.aclose()


async def test_the_reason_of_an_error_is_bounded_too() -> None:
    async with source([reply(b"no " * 100_000, status=400, content_type="text/plain")]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", largest=LIMIT))
    assert error.error_code == "rejected"
    assert len(str(error)) < 600


async def test_many_headers_are_no_answer() -> None:
    async def headers(stream: ByteStream) -> None:
        await stream.send(HEAD)
        for _ in range(1000):
            await stream.send(b"x: " + b"y" * 1000 + b"\r\n")

    async with source([headers]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", seconds=2.0))
    assert error.error_code == "connection"


def lower(least: float, most: float) -> float:
    return least


def upper(least: float, most: float) -> float:
    return most


AT_ONCE = Retrying(uniform=lower)


async def code_of(client: HttpClient, **options: Any) -> str:
    with pytest.raises(SourceError) as caught:
        await client.ask(**options)
    return caught.value.error_code


async def break_off(stream: Any) -> None:
    """Half of an answer."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n"
    await stream.send(head + b"{")


@pytest.mark.parametrize(
    ("answers", "code", "requests"),
    [
        ([reply(status=500), hang_up, GOOD], "", 3),
        ([break_off, GOOD], "", 2),
        ([reply(status=503)], "server", 3),
        ([reply(status=400)], "rejected", 1),
        ([reply(status=401)], "authentication", 1),
        ([reply(status=404)], "not_found", 1),
    ],
)
async def test_what_another_try_may_mend_is_tried_three_times_and_nothing_else(
    answers: Sequence[Reply], code: str, requests: int
) -> None:
    async with source(answers) as served:
        client = HttpClient(served.url, adapter="wiki", retrying=AT_ONCE)
        if code:
            assert await code_of(client) == code
        else:
            assert await client.ask() == {"ok": True}
        await client.aclose()
    assert len(served.requests) == requests


async def test_a_source_that_asks_for_more_time_than_there_is_is_not_waited_for() -> None:
    async with source([reply(status=429, retry_after="25")]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki"))
    assert (error.error_code, error.retry_after) == ("rate_limit", 25.0)
    assert len(served.requests) == 1


async def test_an_error_that_is_told_with_success_is_tried_again_if_it_passes() -> None:
    def check(answer: Any, retry_after: float | None) -> None:
        if "error" in answer:
            assert retry_after == 0
            raise SourceError("lags", error_code="server", retry_after=retry_after)

    async with source([json_reply({"error": 1}, retry_after="0"), GOOD]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki"), check=check) == {"ok": True}
    assert len(served.requests) == 2


def test_waits_double_are_drawn_and_may_be_asked_for_in_bounds() -> None:
    drawn: list[tuple[float, float]] = []

    def uniform(least: float, most: float) -> float:
        drawn.append((least, most))
        return most

    retrying = Retrying(first=0.5, uniform=uniform)
    failed = SourceError("x", error_code="server")
    assert [retrying.wait(failed, attempt) for attempt in (1, 2, 3)] == [0.5, 1.0, None]
    assert drawn == [(0.0, 0.5), (0.0, 1.0)]

    retrying = Retrying(longest=30)
    assert retrying.wait(SourceError("x", error_code="rate_limit", retry_after=30), 1) == 30
    assert retrying.wait(SourceError("x", error_code="rate_limit", retry_after=31), 1) is None


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    later = datetime.now(UTC) + timedelta(seconds=600)
    assert 500 < (seconds_asked(format_datetime(later, usegmt=True)) or 0) <= 600
    assert seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds_asked("7") == 7
    assert [seconds_asked(told) for told in (None, "", "soon", "-1", "1.5", "٣")] == [None] * 6


async def test_a_source_that_keeps_failing_is_left_alone() -> None:
    async with source([reply(status=500)]) as served:
        once = Retrying(attempts=1)
        breakers = Breakers(threshold=2)
        client = HttpClient(served.url, adapter="wiki", breakers=breakers, retrying=once)
        assert [await code_of(client) for _ in range(2)] == ["server", "server"]
        with pytest.raises(SourceError) as caught:
            await client.ask()
        await client.aclose()
    assert (caught.value.error_code, caught.value.adapter) == ("circuit_open", "wiki")
    assert caught.value.retry_after
    assert breakers.open_providers() == ("adapter:wiki",)
    assert len(served.requests) == 2


async def test_timeouts_count_for_the_breaker_and_wrong_requests_do_not() -> None:
    def answer(request: Any) -> Any:
        return never if request.target == "/slow" else reply(status=404)

    async with source(answer) as served:
        breakers = Breakers(threshold=1)
        client = HttpClient(served.url, adapter="wiki", seconds=0.2, breakers=breakers)
        assert await code_of(client, path="wrong") == "not_found"
        assert await code_of(client, path="slow") == "timeout"
        assert await code_of(client, path="wrong") == "circuit_open"
        await client.aclose()


async def test_the_breakers_of_the_run_are_shared_by_its_adapters_of_a_name() -> None:
    calls = Calls(ledger=Ledger(Budget(), Usage()), breakers=Breakers(threshold=1))
    async with source([reply(status=500)]) as served:
        first = HttpClient(served.url, adapter="wiki", retrying=Retrying(attempts=1))
        second = HttpClient(served.url, adapter="wiki")
        with calls.active():
            assert await code_of(first) == "server"
            assert await code_of(second) == "circuit_open"
        await first.aclose()
        await second.aclose()


async def test_a_request_that_is_cancelled_leaves_the_trial_to_the_next() -> None:
    now = 0.0
    breakers = Breakers(threshold=1, cooldown=30.0, clock=lambda: now)
    breakers.failed("adapter:wiki")
    now = 31.0
    asked = anyio.Event()

    def answer(_: Any) -> Any:
        asked.set()
        return never if len(served.requests) == 1 else GOOD

    async with source(answer) as served:
        client = HttpClient(served.url, adapter="wiki", breakers=breakers)
        async with anyio.create_task_group() as group:
            group.start_soon(client.ask)
            with anyio.fail_after(60):
                await asked.wait()
            group.cancel_scope.cancel()
        assert await client.ask() == {"ok": True}
        assert breakers.open_providers() == ()
        await client.aclose()


async def test_connections_are_used_again_until_they_are_closed() -> None:
    async with source([GOOD]) as served:
        client = HttpClient(served.url, adapter="wiki")
        await client.ask()
        await client.ask()
        assert served.connections == 1
        await client.aclose()
        await client.aclose()
        await client.ask()
        assert served.connections == 2
        await client.aclose()


def test_another_event_loop_has_connections_of_its_own_and_none_is_left_open() -> None:
    # A connection that is left open is a warning, and a warning fails the tests.
    async def ask(client: HttpClient) -> None:
        async with source([GOOD], port=port) as served:
            assert await client.ask() == {"ok": True}
            assert served.connections == 1

    async def free_port() -> int:
        async with source([GOOD]) as served:
            return served.port

    port = anyio.run(free_port)
    client = HttpClient(f"http://127.0.0.1:{port}", adapter="wiki")
    anyio.run(ask, client)
    anyio.run(ask, client)
