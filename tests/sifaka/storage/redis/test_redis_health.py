from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sifaka.errors import StorageError
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.store import judge
from tests.stubs.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio
Command = Callable[..., Awaitable[Any]]


async def test_a_server_tells_its_version_and_what_may_lose_runs(
    own_redis: RedisServer, command: Command
) -> None:
    store = RedisStorage(own_redis.url.replace("//", "//:unused@"))
    await store.aclose()
    store = RedisStorage(own_redis.url)
    (health,) = await store.health()
    assert (health.part, health.works) == (own_redis.url, True)
    assert health.found.startswith("Redis ")
    assert "appendonly is off" in health.found
    assert "evicted" not in health.found

    await command(store, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    (health,) = await store.health()
    assert health.works
    assert "maxmemory-policy is allkeys-lru: runs may be evicted, use noeviction" in health.found
    assert store.degraded == ()
    await store.aclose()


async def test_a_server_that_keeps_everything_has_nothing_to_tell() -> None:
    with redis_server(appendfsync="everysec") as server:
        store = RedisStorage(server.url)
        (health,) = await store.health()
        assert health.works
        assert ";" not in health.found
        await store.aclose()


@pytest.mark.parametrize(
    ("version", "works"), [("5.0.14", False), ("6.0.16", False), ("6.2.14", True), ("8.0.1", True)]
)
def test_a_server_that_is_too_old_does_not_work(version: str, works: bool) -> None:
    info = {"redis_version": version, "aof_enabled": "1"}
    if works:
        assert version in judge(info)
    else:
        with pytest.raises(StorageError, match=version):
            judge(info)
