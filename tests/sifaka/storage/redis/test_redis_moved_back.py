"""A server that has lost its tail: no rival, and brought back from what this process knows."""

import logging
from collections.abc import Generator
from pathlib import Path

import pytest

from sifaka.errors import Fenced, ThoughtNotFound, VersionConflict
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import RedisServer, command, redis_server
from tests.stubs.runs import catch_up, draft, keep, stop

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Generator[RedisServer]:
    """A server that keeps what it was told to save, and nothing after that."""
    with redis_server(appendfsync=None) as server:
        yield server


def lose_the_tail(server: RedisServer) -> None:
    server.kill()
    server.start()


async def test_a_run_goes_on_although_the_server_has_lost_its_last_entries(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = RedisStorage(server.url)
    run = await keep(store, "one")
    await command(store, "SAVE")
    run = await draft(store, run, "two")
    run = await draft(store, run, "three")
    lose_the_tail(server)
    with caplog.at_level(logging.WARNING):
        run = await draft(store, run, "four")
    assert await store.load(run.run_id) == run
    assert "had lost entries 3 to 4 of run" in caplog.text
    await store.aclose()


async def test_a_whole_run_that_was_lost_is_stored_again_and_a_deleted_one_is_not(
    server: RedisServer,
) -> None:
    store, other = RedisStorage(server.url), RedisStorage(server.url)
    run, deleted = await keep(store, "one"), await keep(store, "one")
    await other.delete(deleted.run_id)
    with pytest.raises(VersionConflict):
        await draft(store, deleted, "two")
    await store.delete(deleted.run_id)
    lose_the_tail(server)
    run = await draft(store, run, "two")
    assert await other.load(run.run_id) == run
    assert await store.catch_up() == 0
    with pytest.raises(ThoughtNotFound):
        await other.load(deleted.run_id)
    for each in (store, other):
        await each.aclose()


async def test_finished_runs_are_whole_again_without_a_further_append(server: RedisServer) -> None:
    store = RedisStorage(server.url)
    tenants = [store, store.scoped("another")]
    runs = [await keep(tenant, "one") for tenant in tenants]
    await command(store, "SAVE")
    runs = [await stop(tenant, run) for tenant, run in zip(tenants, runs, strict=True)]
    lose_the_tail(server)
    assert (await store.load(runs[0].run_id)).status == "running", "that is what was lost"
    await store.catch_up()
    for tenant, run in zip(tenants, runs, strict=True):
        assert await tenant.load(run.run_id) == run
    await store.aclose()


async def test_what_this_process_has_not_written_is_said_and_not_made_up(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    first, store = RedisStorage(server.url), RedisStorage(server.url)
    run = await keep(first, "one")
    await command(first, "SAVE")
    run = await draft(first, run, "two")
    run = await draft(store, run, "three")
    lose_the_tail(server)
    with caplog.at_level(logging.WARNING), pytest.raises(VersionConflict):
        await draft(store, run, "four")
    assert "has not written entries 3 to 3 of run" in caplog.text
    await first.catch_up()
    run = await draft(store, run, "four")
    assert await store.load(run.run_id) == run, "together they know all of it"
    for each in (first, store):
        await each.aclose()


async def test_a_rival_that_went_on_from_what_was_left_is_a_rival(server: RedisServer) -> None:
    store, rival = RedisStorage(server.url), RedisStorage(server.url)
    run = await keep(store, "one")
    await command(store, "SAVE")
    mine = await draft(store, run, "mine")
    mine = await draft(store, mine, "mine again")
    lose_the_tail(server)
    theirs = await draft(rival, run, "theirs")
    with pytest.raises(VersionConflict):
        await draft(store, mine, "and more")
    assert await store.load(run.run_id) == theirs
    for each in (store, rival):
        await each.aclose()


async def test_a_claim_that_was_lost_still_refuses_those_before_it(server: RedisServer) -> None:
    store = RedisStorage(server.url)
    run = await keep(store, "one")
    await command(store, "SAVE")
    fences = [await store.claim(run.run_id) for _ in range(3)]
    lose_the_tail(server)
    after = await stop(store, run, fences[-1])
    with pytest.raises(Fenced):
        await stop(store, after, fences[0])
    assert await store.claim(run.run_id) == fences[-1] + 1
    await store.aclose()


async def test_entries_that_waited_for_the_server_are_not_refused(
    server: RedisServer, tmp_path: Path
) -> None:
    log = RedisStorage(server.url)
    store = CachedStorage(MemoryStorage(), log, queue=tmp_path / "queue.db", retry_after=0)
    run = await keep(store, "one")
    await command(log, "SAVE")
    run = await draft(store, run, "two")
    server.kill()
    run = await stop(store, run)
    server.start()
    await catch_up(store)
    assert await RedisStorage(server.url).load(run.run_id) == run
    assert await store.refused() == ()
    await store.aclose()
