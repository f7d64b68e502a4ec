"""What a retriever has found is kept, in caches one behind the other."""

import logging
import stat
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from sifaka._internal.blocking import run_blocking
from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError, StorageError
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


class Plain(Frozen):
    """A retriever that is plain data."""

    topic: str

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        return [Document(text=f"{self.topic}: {query}")]


async def test_what_is_known_is_not_asked_for_again_but_another_query_or_limit_is() -> None:
    mock = MockRetriever({"q": [FACT, FACT]})
    cached = CachedRetriever(mock)
    for limit in (1, 1, 2, 2):
        assert await cached.retrieve("q", limit) == (FACT,) * limit
    for _ in range(2):
        assert await cached.retrieve("r", 1) == (), "that nothing was found is known too"
    assert mock.queries == ["q", "q", "r"]


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


async def test_a_document_that_cannot_be_kept_is_returned_and_no_fault_of_the_cache() -> None:
    cache = Counting()
    answers = {"odd": [Document(text="\ud800")], "plain": [FACT]}
    retriever = CachedRetriever(MockRetriever(answers), caches=(cache,))
    assert await retriever.retrieve("odd", 5) == tuple(answers["odd"])
    await retriever.retrieve("plain", 5)
    assert cache.kept == 1
    odd = Document(text="half a pair \ud800")
    assert await CachedRetriever(MockRetriever([odd])).retrieve("q\ud800", 5) == (odd,)


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(ttl: float) -> None:
    with pytest.raises(ConfigurationError, match=f"ttl={ttl}"):
        CachedRetriever(MockRetriever(), ttl=ttl)


async def test_a_failure_is_not_kept() -> None:
    failing = MockRetriever(fails=ConnectionError("down"))
    cached = CachedRetriever(failing)
    for asked in (1, 2):
        with pytest.raises(ConnectionError):
            await cached.retrieve("q", 5)
        assert len(failing.queries) == asked


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


@pytest.fixture(params=["memory", "redis", "sqlite"])
async def cache(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Cache]:
    make: dict[str, Callable[[], Cache]] = {
        "memory": MemoryCache,
        "redis": lambda: RedisCache(shared_redis().url),
        "sqlite": lambda: SQLiteCache(tmp_path / "deep" / "cache.db"),
    }
    cache = make[request.param]()
    yield cache
    await cache.aclose()


async def test_what_was_kept_last_is_there(cache: Cache, tmp_path: Path) -> None:
    key = str(tmp_path)
    assert await cache.get(key) is None
    await cache.set(key, b"\x00one", ttl=60)
    await cache.set(key, b"\x00two", ttl=60)
    assert await cache.get(key) == b"\x00two"
    assert await cache.get(key + "x") is None


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_value_whose_time_is_over_is_gone(kind: str, tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "c.db"
    cache = MemoryCache(clock=clock) if kind == "memory" else SQLiteCache(path, clock=clock)
    await cache.set("k", b"v", ttl=60)
    clock.now += 59
    assert await cache.get("k") == b"v"
    clock.now += 1
    assert await cache.get("k") is None
    await cache.aclose()


async def test_redis_itself_forgets_a_value_after_its_time(tmp_path: Path) -> None:
    import redis

    key = str(tmp_path)
    cache = RedisCache(shared_redis().url)
    await cache.set(key, b"v", ttl=60)
    await cache.aclose()
    with cast("Any", redis.Redis).from_url(shared_redis().url) as client:
        left = client.pttl(f"sifaka:cache:{key}")
    assert 0 < left <= 60_000


async def test_memory_forgets_what_was_used_longest_ago() -> None:
    cache = MemoryCache(most=2)
    await cache.set("a", b"1", ttl=60)
    await cache.set("b", b"2", ttl=60)
    await cache.get("a")
    await cache.set("c", b"3", ttl=60)
    assert [await cache.get(key) for key in "abc"] == [b"1", None, b"3"]


async def test_a_file_outlives_its_cache_and_loses_what_expired(tmp_path: Path) -> None:
    now = 1000.0
    first = SQLiteCache(tmp_path / "c.db", clock=lambda: now)
    await first.set("old", b"v", ttl=10)
    await first.set("new", b"v", ttl=100)
    await first.aclose()
    now = 1050.0
    second = SQLiteCache(tmp_path / "c.db", clock=lambda: now)
    assert await second.get("new") == b"v"
    await second.set("newest", b"v", ttl=100)
    await second.aclose()
    file = apsw.Connection(str(tmp_path / "c.db"))
    assert cast("Any", file).execute("SELECT count(*) FROM cache").get == 2
    file.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
async def test_only_its_owner_reads_the_file(tmp_path: Path) -> None:
    cache = SQLiteCache(tmp_path / "c.db")
    await cache.set("k", b"v", ttl=10)
    await cache.aclose()
    assert stat.S_IMODE((tmp_path / "c.db").stat().st_mode) == 0o600


async def test_a_file_that_is_no_database_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "c.db").write_bytes(b"not a database" * 100)
    cache = SQLiteCache(tmp_path / "c.db")
    with pytest.raises(StorageError, match="cannot be used"):
        await cache.get("k")
    await cache.aclose()


async def test_a_redis_that_is_not_there_is_a_storage_error_without_its_password() -> None:
    cache = RedisCache("redis://:hunter2@127.0.0.1:1/0")
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        await cache.get("k")
    assert "hunter2" not in str(caught.value)
    assert caught.value.retryable
    await cache.aclose()


async def test_a_url_that_is_none_is_refused_without_quoting_it() -> None:
    with pytest.raises(ConfigurationError) as caught:
        await RedisCache("nonsense://:hunter2@h").get("k")
    assert "hunter2" not in str(caught.value)


def test_a_cache_in_redis_serves_several_event_loops(tmp_path: Path) -> None:
    cache = RedisCache(shared_redis().url)
    run_blocking(lambda: cache.set(str(tmp_path), b"v", ttl=60))
    assert run_blocking(lambda: cache.get(str(tmp_path))) == b"v"
    run_blocking(cache.aclose)
