"""The HTTP client reads a bounded part of an answer, and holds a bounded part in memory."""

import gzip
import tracemalloc
import zlib
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest
from anyio.abc import ByteStream

from sifaka.errors import SourceError
from sifaka.evidence.sources.http import HttpClient
from tests.stubs.sources import Reply, refusal, reply, source

pytestmark = pytest.mark.anyio

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
    assert error.code == "too_large"
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
        assert len(await client.get()) == LIMIT - 2
        await client.aclose()


async def test_the_reason_of_an_error_is_bounded_too() -> None:
    async with source([reply(b"no " * 100_000, status=400, content_type="text/plain")]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", largest=LIMIT))
    assert error.code == "rejected"
    assert len(str(error)) < 600


async def test_many_headers_are_no_answer() -> None:
    async def headers(stream: ByteStream) -> None:
        await stream.send(HEAD)
        for _ in range(1000):
            await stream.send(b"x: " + b"y" * 1000 + b"\r\n")

    async with source([headers]) as served:
        error = await refusal(HttpClient(served.url, adapter="wiki", seconds=2.0))
    assert error.code == "connection"
