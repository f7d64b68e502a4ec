import logging
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from sifaka._internal.blocking import run_blocking
from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.record.thought import Document
from sifaka.retrievers import (
    Cache,
    CachedRetriever,
    MemoryCache,
    MockRetriever,
    RedisCache,
    SQLiteCache,
)
from tests.stubs.redis_server import shared_redis

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

    async def aclose(self) -> None:
        pass


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
    cache = MemoryCache(clock=clock)
    cached = CachedRetriever(mock, caches=[cache], ttl=60, clock=clock)
    await cached.retrieve("q", 5)
    clock.now += 59
    await cached.retrieve("q", 5)
    assert len(mock.queries) == 1
    clock.now += 2
    await cached.retrieve("q", 5)
    assert len(mock.queries) == 2


async def test_a_copy_in_a_faster_cache_does_not_live_longer() -> None:
    clock, mock = Clock(), MockRetriever([FACT])
    slow = MemoryCache(clock=clock)
    first = CachedRetriever(mock, caches=[slow], ttl=60, name="m", clock=clock)
    await first.retrieve("q", 5)
    clock.now += 50
    both = (MemoryCache(clock=clock), slow)
    second = CachedRetriever(mock, caches=both, ttl=60, name="m", clock=clock)
    await second.retrieve("q", 5)
    assert len(mock.queries) == 1
    clock.now += 11
    await second.retrieve("q", 5)
    assert len(mock.queries) == 2


async def test_three_tiers_fill_each_other_from_below(tmp_path: Path) -> None:
    mock = MockRetriever([FACT])
    memory, disk = MemoryCache(), SQLiteCache(tmp_path / "cache.db")
    shared = RedisCache(shared_redis().url)
    tiers: list[Cache] = [memory, shared, disk]
    name = str(tmp_path)
    assert await CachedRetriever(mock, caches=tiers, name=name).retrieve("q", 5) == (FACT,)
    for tier in tiers:  # each has it, so each answers alone
        alone = CachedRetriever(MockRetriever(), caches=[tier], name=name)
        assert await alone.retrieve("q", 5) == (FACT,)
    fresh = MemoryCache()
    filled = CachedRetriever(MockRetriever(), caches=[fresh, disk], name=name)
    assert await filled.retrieve("q", 5) == (FACT,)
    alone = CachedRetriever(MockRetriever(), caches=[fresh], name=name)
    assert await alone.retrieve("q", 5) == (FACT,)
    for tier in tiers:
        await tier.aclose()


async def test_a_tier_that_fails_is_left_out_for_a_while_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, broken, mock = Clock(), BrokenCache(), MockRetriever([FACT])
    caches: list[Cache] = [broken, MemoryCache(clock=clock)]
    cached = CachedRetriever(mock, caches=caches, clock=clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await cached.retrieve("q", 5) == (FACT,)
    assert len(mock.queries) == 1
    assert broken.asked == 1
    assert "cache:BrokenCache failed" in caplog.text
    assert "hunter2" not in caplog.text
    clock.now += 31
    await cached.retrieve("q", 5)
    assert broken.asked == 2


async def test_a_value_that_cannot_be_read_is_as_good_as_none() -> None:
    class Garbage(MemoryCache):
        async def get(self, key: str) -> bytes | None:
            return b'{"until": "never"'

    assert await CachedRetriever(MockRetriever([FACT]), caches=[Garbage()]).retrieve("q", 5)


async def test_a_document_that_cannot_be_kept_is_returned_all_the_same() -> None:
    odd = Document(text="half a pair \ud800")
    assert await CachedRetriever(MockRetriever([odd])).retrieve("q\ud800", 5) == (odd,)


async def test_a_document_that_cannot_be_kept_is_no_fault_of_the_cache() -> None:
    cache = Counting()
    answers = {"odd": [Document(text="\ud800")], "plain": [FACT]}
    retriever = CachedRetriever(MockRetriever(answers), caches=(cache,))

    await retriever.retrieve("odd", 5)
    await retriever.retrieve("plain", 5)

    assert cache.kept == 1


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(ttl: float) -> None:
    with pytest.raises(ConfigurationError, match=f"ttl={ttl}"):
        CachedRetriever(MockRetriever(), ttl=ttl)


async def test_a_failure_is_not_kept() -> None:
    gate = Gate(fails=ConnectionError("down"))
    gate.open.set()
    cached = CachedRetriever(gate)
    for asked in (1, 2):
        with pytest.raises(ConnectionError):
            await cached.retrieve("q", 5)
        assert gate.asked == asked


async def test_retrievers_of_plain_data_share_a_cache_when_they_are_equal() -> None:
    cache = Counting()
    cats = CachedRetriever(Plain(topic="cats"), caches=[cache])
    dogs = CachedRetriever(Plain(topic="dogs"), caches=[cache])
    assert (await cats.retrieve("q", 5))[0].text == "cats: q"
    assert (await dogs.retrieve("q", 5))[0].text == "dogs: q"
    assert cache.kept == 2
    await CachedRetriever(Plain(topic="cats"), caches=[cache]).retrieve("q", 5)
    assert cache.kept == 2


async def test_other_retrievers_share_only_under_a_name() -> None:
    cache = MemoryCache()
    await CachedRetriever(MockRetriever([FACT]), caches=[cache]).retrieve("q", 5)
    assert await CachedRetriever(MockRetriever(), caches=[cache]).retrieve("q", 5) == ()
    await CachedRetriever(MockRetriever([FACT]), caches=[cache], name="x").retrieve("q", 5)
    named = CachedRetriever(MockRetriever(), caches=[cache], name="x")
    assert await named.retrieve("q", 5) == (FACT,)


def test_one_retriever_serves_several_event_loops() -> None:
    mock = MockRetriever([FACT])
    cached = CachedRetriever(mock)
    assert run_blocking(lambda: cached.retrieve("q", 5)) == (FACT,)
    assert run_blocking(lambda: cached.retrieve("q", 5)) == (FACT,)
    assert mock.queries == ["q"]


async def test_a_cache_that_keeps_things_too_long_is_not_believed() -> None:
    class Forgetless(MemoryCache):
        async def set(self, key: str, value: bytes, *, ttl: float) -> None:
            await super().set(key, value, ttl=1e9)

    clock, mock = Clock(), MockRetriever([FACT])
    cached = CachedRetriever(mock, caches=[Forgetless()], ttl=60, clock=clock)
    await cached.retrieve("q", 5)
    clock.now += 61
    await cached.retrieve("q", 5)
    assert len(mock.queries) == 2
