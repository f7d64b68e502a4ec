import stat
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import apsw
import pytest

from sifaka._internal.blocking import run_blocking
from sifaka.errors import ConfigurationError, StorageError
from sifaka.retrievers import Cache, MemoryCache, RedisCache, SQLiteCache
from tests.stubs.redis_server import shared_redis

pytestmark = pytest.mark.anyio


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


async def test_many_may_use_it_at_the_same_time(cache: Cache, tmp_path: Path) -> None:
    async def use(number: int) -> None:
        key = f"{tmp_path}{number}"
        await cache.set(key, str(number).encode(), ttl=60)
        assert await cache.get(key) == str(number).encode()

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(use, number)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_value_whose_time_is_over_is_gone(kind: str, tmp_path: Path) -> None:
    now = 1000.0

    def clock() -> float:
        return now

    path = tmp_path / "c.db"
    cache = MemoryCache(clock=clock) if kind == "memory" else SQLiteCache(path, clock=clock)
    await cache.set("k", b"v", ttl=60)
    now = 1059.0
    assert await cache.get("k") == b"v"
    now = 1060.0
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
