"""The HTTP client asks again, stops, and keeps its connections."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import pytest

from sifaka.calls.breakers import Breakers
from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.errors import SourceError
from sifaka.evidence.sources.http import HttpClient, Retrying, seconds_asked
from sifaka.record.usage import Budget, Usage
from tests.stubs.sources import answered, hang_up, json_reply, never, refusal, reply, source

pytestmark = pytest.mark.anyio


def lower(least: float, most: float) -> float:
    return least


def upper(least: float, most: float) -> float:
    return most


AT_ONCE = Retrying(uniform=lower)
GOOD = json_reply({"ok": True})


async def code_of(client: HttpClient, **options: Any) -> str:
    with pytest.raises(SourceError) as caught:
        await client.get(**options)
    return caught.value.code


async def test_a_source_that_fails_twice_is_asked_a_third_time() -> None:
    async with source([reply(status=500), hang_up, GOOD]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki", retrying=AT_ONCE)) == {
            "ok": True
        }
    assert len(served.requests) == 3


async def test_there_is_no_fourth_attempt() -> None:
    async with source([reply(status=503)]) as served:
        client = HttpClient(served.url, adapter="wiki", retrying=AT_ONCE)
        assert await code_of(client) == "server"
        await client.aclose()
    assert len(served.requests) == 3


async def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    short = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"

    async def break_off(stream: Any) -> None:
        await stream.send(short)

    async with source([break_off, GOOD]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki", retrying=AT_ONCE)) == {
            "ok": True
        }


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_another_try_cannot_mend_is_not_tried_again(status: int) -> None:
    async with source([reply(status=status)]) as served:
        client = HttpClient(served.url, adapter="wiki", retrying=AT_ONCE)
        await code_of(client)
        await client.aclose()
    assert len(served.requests) == 1


async def test_retry_after_is_honoured() -> None:
    # A wait that was drawn instead would outlive the deadline, and there would be one request.
    drawn = Retrying(first=1000.0, uniform=upper)
    async with source([reply(status=429, retry_after="0"), GOOD]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki", retrying=drawn)) == {
            "ok": True
        }
    assert len(served.requests) == 2


async def test_a_source_that_asks_for_more_time_than_there_is_is_not_waited_for() -> None:
    async with source([reply(status=429, retry_after="25")]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki"))
    assert (error.code, error.retry_after) == ("rate_limit", 25.0)
    assert len(served.requests) == 1


async def test_an_error_that_is_told_with_success_is_tried_again_if_it_passes() -> None:
    def check(answer: Any, retry_after: float | None) -> None:
        if "error" in answer:
            assert retry_after == 0
            raise SourceError("lags", code="server", retry_after=retry_after)

    async with source([json_reply({"error": 1}, retry_after="0"), GOOD]) as served:
        assert await answered(HttpClient(served.url, adapter="wiki"), check=check) == {"ok": True}
    assert len(served.requests) == 2


def test_the_wait_doubles_and_is_drawn_between_none_and_that() -> None:
    drawn: list[tuple[float, float]] = []

    def uniform(least: float, most: float) -> float:
        drawn.append((least, most))
        return most

    retrying = Retrying(first=0.5, uniform=uniform)
    failed = SourceError("x", code="server")
    assert [retrying.wait(failed, attempt) for attempt in (1, 2, 3)] == [0.5, 1.0, None]
    assert drawn == [(0.0, 0.5), (0.0, 1.0)]


def test_a_source_may_ask_for_a_bounded_wait() -> None:
    retrying = Retrying(longest=30)
    assert retrying.wait(SourceError("x", code="rate_limit", retry_after=30), 1) == 30
    assert retrying.wait(SourceError("x", code="rate_limit", retry_after=31), 1) is None


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
            await client.get()
        await client.aclose()
    assert (caught.value.code, caught.value.adapter) == ("circuit_open", "wiki")
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
            group.start_soon(client.get)
            with anyio.fail_after(60):
                await asked.wait()
            group.cancel_scope.cancel()
        assert await client.get() == {"ok": True}
        assert breakers.open_providers() == ()
        await client.aclose()


async def test_connections_are_used_again_until_they_are_closed() -> None:
    async with source([GOOD]) as served:
        client = HttpClient(served.url, adapter="wiki")
        await client.get()
        await client.get()
        assert served.connections == 1
        await client.aclose()
        await client.aclose()
        await client.get()
        assert served.connections == 2
        await client.aclose()


def test_another_event_loop_has_connections_of_its_own_and_none_is_left_open() -> None:
    # A connection that is left open is a warning, and a warning fails the tests.
    async def ask(client: HttpClient) -> None:
        async with source([GOOD], port=port) as served:
            assert await client.get() == {"ok": True}
            assert served.connections == 1

    async def free_port() -> int:
        async with source([GOOD]) as served:
            return served.port

    port = anyio.run(free_port)
    client = HttpClient(f"http://127.0.0.1:{port}", adapter="wiki")
    anyio.run(ask, client)
    anyio.run(ask, client)
