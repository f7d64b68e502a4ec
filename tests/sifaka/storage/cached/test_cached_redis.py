from collections.abc import Generator
from pathlib import Path

import pytest
from redis import Redis

from sifaka.errors import VersionConflict
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.redis import RedisStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory, begin, catch_up, draft, texts
from tests.stubs.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Generator[RedisServer]:
    with redis_server(appendfsync="always") as server:
        yield server


def tiers(server: RedisServer, folder: Path) -> CachedStorage:
    return CachedStorage(
        MemoryStorage(),
        RedisStorage(server.url),
        SearchIndexInMemory(),
        queue=folder / "queue.db",
        retry_after=0.0,
    )


async def test_a_run_survives_that_redis_is_killed_under_it(
    server: RedisServer, tmp_path: Path
) -> None:
    store = tiers(server, tmp_path)
    run = await draft(store, await begin(store), "before")
    server.kill()
    run = await draft(store, run, "during the outage")
    other = await draft(store, await begin(store), "begun in the outage")
    assert await store.load(run.run_id) == run
    assert [line.run_id for line in (await store.recent(limit=5)).runs] == [
        other.run_id,
        run.run_id,
    ]
    hits = (await store.search("outage", limit=5)).hits
    assert {hit.run_id for hit in hits} == {run.run_id, other.run_id}
    (line,) = store.degraded
    assert server.url in line
    assert "3 appends are queued on disk" in line

    server.start()
    run = await draft(store, run, "after")
    await catch_up(store)
    assert store.degraded == ()
    await store.aclose()

    redis = RedisStorage(server.url)
    assert await redis.load(run.run_id) == run
    assert await redis.load(other.run_id) == other
    assert texts(run) == ["before", "during the outage", "after"]
    await redis.aclose()


async def test_a_redis_that_comes_back_empty_gets_back_what_this_process_knows(
    tmp_path: Path,
) -> None:
    with redis_server() as server:
        store = tiers(server, tmp_path)
        run = await draft(store, await begin(store), "before")
        await catch_up(store)
        server.kill()
        run = await draft(store, run, "during")
        server.start()
        await catch_up(store)

        run = await draft(store, run, "after")
        await catch_up(store)
        assert await store.load(run.run_id) == run
        assert await RedisStorage(server.url).load(run.run_id) == run
        assert await store.refused() == ()
        await store.aclose()


def save(server: RedisServer) -> None:
    """Have the server keep what it holds now, as it does from time to time."""
    with Redis(port=server.port) as client:
        client.execute_command("SAVE")  # pyright: ignore[reportUnknownMemberType]


async def test_entries_that_redis_had_acknowledged_and_lost_are_stored_again(
    tmp_path: Path,
) -> None:
    with redis_server() as server:
        store = CachedStorage(
            MemoryStorage(), RedisStorage(server.url), queue=tmp_path / "queue.db"
        )
        run = await draft(store, await begin(store), "saved")
        save(server)
        run = await draft(store, run, "not saved yet")
        server.kill()
        server.start()

        run = await draft(store, run, "after")
        await store.aclose()

        redis = RedisStorage(server.url)
        assert await redis.load(run.run_id) == run
        assert texts(run) == ["saved", "not saved yet", "after"]
        await redis.aclose()


async def test_a_run_with_which_others_went_on_after_such_a_loss_is_theirs(
    tmp_path: Path,
) -> None:
    with redis_server() as server:
        store = CachedStorage(
            MemoryStorage(), RedisStorage(server.url), queue=tmp_path / "queue.db"
        )
        saved = await draft(store, await begin(store), "saved")
        save(server)
        lost = await draft(store, await draft(store, saved, "lost"), "lost too")
        server.kill()
        server.start()
        redis = RedisStorage(server.url)
        theirs = await draft(redis, saved, "theirs")

        with pytest.raises(VersionConflict):
            await draft(store, lost, "after")
        assert await redis.load(saved.run_id) == theirs
        await redis.aclose()
        await store.aclose()
