"""The promises of an append when others get in between; damaged entries; the keys of all this."""

import logging
from itertools import combinations

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.run import Run
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.store import Keys
from tests.stubs.redis_server import command, redis_server, shared_redis
from tests.stubs.runs import draft, found, keep, listed
from tests.stubs.tcp_proxy import lossy_proxy

pytestmark = pytest.mark.anyio


async def test_an_append_whose_reply_is_lost_is_there_once(prefix: str) -> None:
    async with lossy_proxy(shared_redis().port) as proxy:
        store = RedisStorage(proxy.url, prefix=prefix)
        run = await keep(store, "one")

        proxy.lose_replies(b"EVAL")
        run = await draft(store, run, "two")
        assert proxy.lost == 1
        proxy.lose_replies(b"EVAL")
        other = await keep(store, "another", run_id="another")
        assert proxy.lost == 2

        assert await store.load(run.run_id) == run
        assert await store.load("another") == other
        await store.aclose()


async def test_what_was_acknowledged_survives_kill_9_of_the_server() -> None:
    with redis_server(appendfsync="always") as server:
        store = RedisStorage(server.url)
        acknowledged: dict[str, Run] = {}
        enough = anyio.Event()

        async def write(name: str) -> None:
            run = acknowledged[name] = await keep(store, run_id=name)
            while True:
                try:
                    run = await draft(store, run, f"text {run.version} " * 400)
                except StorageError:
                    return
                acknowledged[name] = run
                if run.version == 30:
                    enough.set()

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for name in "abcd":
                    group.start_soon(write, name)
                await enough.wait()
                server.kill()
        server.start()

        assert len(acknowledged) == 4
        for name, run in acknowledged.items():
            loaded = await store.load(name)
            # The last append was perhaps kept, and its answer lost.
            assert loaded.version in {run.version, run.version + 1}
            assert loaded.thoughts[: len(run.thoughts)] == run.thoughts
        assert len((await store.recent(limit=9)).runs) == 4
        await store.aclose()


async def test_a_cancelled_append_is_there_or_not_and_the_store_works_on(
    store: RedisStorage,
) -> None:
    run = await keep(store, "one")
    for delay in (0.0, 0.0001, 0.0005, 0.001):
        with anyio.move_on_after(delay):
            await draft(store, run, f"after {delay}")
        run = await store.load(run.run_id)
    assert await draft(store, run, "last") == await store.load(run.run_id)


async def test_a_damaged_summary_is_left_out_and_logged(
    store: RedisStorage, caplog: pytest.LogCaptureFixture
) -> None:
    first, damaged, last = [await keep(store, "zebra") for _ in range(3)]
    keys = Keys(store.prefix, "default")
    await command(store, "HSET", keys.run(damaged.run_id), "summary", b"\xff{")

    with caplog.at_level(logging.WARNING):
        page = await store.recent(limit=2)
    assert [line.run_id for line in page.runs] == [last.run_id, first.run_id]
    assert page.next_cursor is None
    assert damaged.run_id in caplog.text
    # Its entries are not damaged; a search reads the runs of the list.
    assert await store.load(damaged.run_id) == damaged
    assert len((await store.search("zebra", limit=5)).hits) == 2


@pytest.mark.parametrize("key", ["run", "entries"])
async def test_a_key_of_another_type_hides_its_own_run_alone(store: RedisStorage, key: str) -> None:
    first, damaged, last = [await keep(store, "zebra") for _ in range(3)]
    name = getattr(Keys(store.prefix, "default"), key)(damaged.run_id)
    await command(store, "SET", name, "a string")
    assert set(await listed(store)) - {damaged.run_id} == {first.run_id, last.run_id}
    assert set(await found(store, "zebra")) == {first.run_id, last.run_id}
    assert await store.catch_up() == 0
    with pytest.raises(StorageError):
        await store.load(damaged.run_id)


async def test_pages_are_full_whatever_is_left_out(store: RedisStorage) -> None:
    runs = [await keep(store, "x") for _ in range(9)]
    keys = Keys(store.prefix, "default")
    for run in runs[2:7]:
        await command(store, "HSET", keys.run(run.run_id), "summary", "{")
    page = await store.recent(limit=3)
    assert [line.run_id for line in page.runs] == [runs[n].run_id for n in (8, 7, 1)]
    rest = await store.recent(limit=3, cursor=page.next_cursor)
    assert [line.run_id for line in rest.runs] == [runs[0].run_id]


async def test_evicted_entries_are_missed_by_readers_and_writers(store: RedisStorage) -> None:
    run = await keep(store, "one", "two")
    keys = Keys(store.prefix, "default")
    await command(store, "XDEL", keys.entries(run.run_id), "3-0")

    with pytest.raises(StorageError, match=r"entry 3 of run .* is missing"):
        await store.load(run.run_id)
    with pytest.raises(StorageError, match=r"entry 3 of run .* is missing") as caught:
        await draft(store, run, "three")
    assert not isinstance(caught.value, VersionConflict)

    await command(store, "DEL", keys.entries(run.run_id))
    with pytest.raises(StorageError, match=r"entry 1 of run .* is missing"):
        await store.load(run.run_id)


async def test_a_run_whose_hash_was_evicted_can_be_deleted_and_begun_anew(
    store: RedisStorage,
) -> None:
    run = await keep(store, "one")
    await command(store, "DEL", Keys(store.prefix, "default").run(run.run_id))
    with pytest.raises(ThoughtNotFound):
        await store.load(run.run_id)
    with pytest.raises(StorageError):
        await keep(store, "two", run_id=run.run_id)
    await store.delete(run.run_id)
    again = await keep(store, "two", run_id=run.run_id)
    assert await store.load(run.run_id) == again


ODD = (
    *("", "42", "Key x", "a\0b", "'; DROP", "ünï", "👩‍👩‍👧", "%72ecent", "a:it", "a", "a:children"),
    *("recent", "cursor", "{b}", "*", "run_0\n", "x" * 500),
)


def test_keys_are_documented_and_never_the_same() -> None:
    names: list[str] = []
    for tenant in ("a", "b", "a}:{b", "{b}"):
        keys = Keys("sifaka", tenant)
        own = [keys.recent]
        for run_id in (*ODD, "\ud800", "\udfff"):
            own += [keys.run(run_id), keys.entries(run_id)]
        assert len({name[: name.index("}") + 1] for name in own}) == 1
        assert all(name.count("{") == name.count("}") == 1 for name in own)
        names += own
    assert not [pair for pair in combinations(names, 2) if pair[0] == pair[1]]

    keys = Keys("sifaka", "ann")
    assert keys.run("run_1") == "sifaka:run:{ann}:run_1"
    assert keys.entries("run_1") == "sifaka:run:{ann}:run_1:it"
    assert keys.recent == "sifaka:run:{ann}:recent"
