import logging
from collections.abc import Sequence

import anyio
import pytest

from sifaka._internal.blocking import run_blocking
from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.record.thought import Document
from sifaka.retrievers import CachedRetriever, MemoryCache, MockRetriever

pytestmark = pytest.mark.anyio
FACT = Document(text="a fact", id="f", score=0.5, metadata={"page": 3})


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class BrokenCache:
    """A cache that cannot be reached."""

    def __init__(self) -> None:
        self.asked = 0

    async def get(self, key: str) -> bytes | None:
        self.asked += 1
        raise ConnectionError("redis://:hunter2@example.org")

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        self.asked += 1
        raise ConnectionError("redis://:hunter2@example.org")


class Counting(MemoryCache):
    """A cache that counts what it is given to keep."""

    kept = 0

    async def set(self, key: str, value: bytes, *, ttl: float) -> None:
        self.kept += 1
        await super().set(key, value, ttl=ttl)


class Gate:
    """A retriever that answers when it is let, each time with another document."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.asked = 0
        self.started = anyio.Event()
        self.open = anyio.Event()
        self._fails = fails

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        self.asked += 1
        number = self.asked
        self.started.set()
        await self.open.wait()
        if self._fails is not None:
            raise self._fails
        return [Document(text=f"answer {number}")]


class Plain(Frozen):
    """A retriever that is plain data."""

    topic: str

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        return [Document(text=f"{self.topic}: {query}")]


async def test_what_is_known_is_not_asked_for_again() -> None:
    mock = MockRetriever([FACT])
    cached = CachedRetriever(mock)
    assert await cached.retrieve("q", 5) == (FACT,)
    assert await cached.retrieve("q", 5) == (FACT,)
    assert mock.queries == ["q"]


async def test_another_query_or_limit_is_another_question() -> None:
    mock = MockRetriever([FACT, FACT])
    cached = CachedRetriever(mock)
    assert len(await cached.retrieve("q", 1)) == 1
    assert len(await cached.retrieve("q", 2)) == 2
    await cached.retrieve("r", 1)
    assert mock.queries == ["q", "q", "r"]


async def test_that_nothing_was_found_is_known_too() -> None:
    mock = MockRetriever()
    cached = CachedRetriever(mock)
    assert await cached.retrieve("q", 5) == await cached.retrieve("q", 5) == ()
    assert mock.queries == ["q"]


async def test_after_its_time_the_retriever_is_asked_again() -> None:
    clock, mock = Clock(), MockRetriever([FACT])
    cached = CachedRetriever(mock, cache=MemoryCache(clock=clock), ttl=60)
    await cached.retrieve("q", 5)
    clock.now += 59
    await cached.retrieve("q", 5)
    assert len(mock.queries) == 1
    clock.now += 2
    await cached.retrieve("q", 5)
    assert len(mock.queries) == 2


async def test_where_the_cache_fails_the_retriever_is_asked_and_the_failure_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, mock = BrokenCache(), MockRetriever([FACT])
    cached = CachedRetriever(mock, cache=broken)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await cached.retrieve("q", 5) == (FACT,)
    assert len(mock.queries) == 3
    assert "cache:BrokenCache failed" in caplog.text
    assert "hunter2" not in caplog.text


async def test_a_value_that_cannot_be_read_is_as_good_as_none() -> None:
    class Garbage(MemoryCache):
        async def get(self, key: str) -> bytes | None:
            return b'{"documents": "none"'

    assert await CachedRetriever(MockRetriever([FACT]), cache=Garbage()).retrieve("q", 5)


async def test_a_document_that_cannot_be_kept_is_returned_all_the_same() -> None:
    odd = Document(text="half a pair \ud800")
    assert await CachedRetriever(MockRetriever([odd])).retrieve("q\ud800", 5) == (odd,)


async def test_a_document_that_cannot_be_kept_is_no_fault_of_the_cache() -> None:
    cache = Counting()
    answers = {"odd": [Document(text="\ud800")], "plain": [FACT]}
    retriever = CachedRetriever(MockRetriever(answers), cache=cache)

    await retriever.retrieve("odd", 5)
    await retriever.retrieve("plain", 5)

    assert cache.kept == 1


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(ttl: float) -> None:
    with pytest.raises(ConfigurationError, match=f"ttl={ttl}"):
        CachedRetriever(MockRetriever(), ttl=ttl)


async def test_those_who_ask_at_the_same_time_ask_once() -> None:
    gate = Gate()
    cached = CachedRetriever(gate)
    found: list[Sequence[Document]] = []

    async def ask() -> None:
        found.append(await cached.retrieve("q", 5))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask)
            await gate.started.wait()
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
    assert gate.asked == 1
    assert [documents[0].text for documents in found] == ["answer 1"] * 5


async def test_when_the_first_is_cancelled_the_others_get_their_answer() -> None:
    gate = Gate()
    cached = CachedRetriever(gate)
    found: list[Sequence[Document]] = []
    first = anyio.CancelScope()

    async def ask_first() -> None:
        with first:
            await cached.retrieve("q", 5)

    async def ask() -> None:
        found.append(await cached.retrieve("q", 5))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask_first)
            await gate.started.wait()
            for _ in range(3):
                group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            first.cancel()
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
    assert [documents[0].text for documents in found] == ["answer 2"] * 3
    assert gate.asked == 2


async def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    gate = Gate(fails=ConnectionError("down"))
    cached = CachedRetriever(gate)
    failures: list[str] = []

    async def ask() -> None:
        try:
            await cached.retrieve("q", 5)
        except ConnectionError as error:
            failures.append(str(error))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)
            await gate.started.wait()
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
    assert failures == ["down"] * 3
    assert gate.asked == 1
    with pytest.raises(ConnectionError):
        await cached.retrieve("q", 5)
    assert gate.asked == 2


async def test_retrievers_of_plain_data_share_a_cache_when_they_are_equal() -> None:
    cache = Counting()
    cats = CachedRetriever(Plain(topic="cats"), cache=cache)
    dogs = CachedRetriever(Plain(topic="dogs"), cache=cache)
    assert (await cats.retrieve("q", 5))[0].text == "cats: q"
    assert (await dogs.retrieve("q", 5))[0].text == "dogs: q"
    assert cache.kept == 2
    await CachedRetriever(Plain(topic="cats"), cache=cache).retrieve("q", 5)
    assert cache.kept == 2


async def test_other_retrievers_share_only_under_a_name() -> None:
    cache = MemoryCache()
    await CachedRetriever(MockRetriever([FACT]), cache=cache).retrieve("q", 5)
    assert await CachedRetriever(MockRetriever(), cache=cache).retrieve("q", 5) == ()
    await CachedRetriever(MockRetriever([FACT]), cache=cache, name="x").retrieve("q", 5)
    named = CachedRetriever(MockRetriever(), cache=cache, name="x")
    assert await named.retrieve("q", 5) == (FACT,)


def test_one_retriever_serves_several_event_loops() -> None:
    mock = MockRetriever([FACT])
    cached = CachedRetriever(mock)
    assert run_blocking(lambda: cached.retrieve("q", 5)) == (FACT,)
    assert run_blocking(lambda: cached.retrieve("q", 5)) == (FACT,)
    assert mock.queries == ["q"]


async def test_what_was_kept_last_is_there() -> None:
    cache, key = MemoryCache(), "k"
    assert await cache.get(key) is None
    await cache.set(key, b"\x00one", ttl=60)
    await cache.set(key, b"\x00two", ttl=60)
    assert await cache.get(key) == b"\x00two"
    assert await cache.get(key + "x") is None


async def test_a_value_whose_time_is_over_is_gone() -> None:
    clock = Clock()
    cache = MemoryCache(clock=clock)
    await cache.set("k", b"v", ttl=60)
    clock.now += 59
    assert await cache.get("k") == b"v"
    clock.now += 1
    assert await cache.get("k") is None


async def test_memory_forgets_what_was_used_longest_ago() -> None:
    cache = MemoryCache(most=2)
    await cache.set("a", b"1", ttl=60)
    await cache.set("b", b"2", ttl=60)
    await cache.get("a")
    await cache.set("c", b"3", ttl=60)
    assert [await cache.get(key) for key in "abc"] == [b"1", None, b"3"]
