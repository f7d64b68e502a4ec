"""Entries that were evicted or tampered with are told, and do not hide the rest."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.run import Run
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.log import Keys

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Command = Callable[..., Awaitable[Any]]


async def test_a_damaged_summary_is_left_out_and_logged(
    store: RedisStorage, keep: Keep, command: Command, caplog: pytest.LogCaptureFixture
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
async def test_a_key_of_another_type_hides_its_own_run_alone(
    store: RedisStorage, keep: Keep, command: Command, key: str
) -> None:
    first, damaged, last = [await keep(store, "zebra") for _ in range(3)]
    name = getattr(Keys(store.prefix, "default"), key)(damaged.run_id)
    await command(store, "SET", name, "a string")

    listed = {line.run_id for line in (await store.recent(limit=5)).runs}
    assert listed - {damaged.run_id} == {first.run_id, last.run_id}
    found = {hit.run_id for hit in (await store.search("zebra", limit=5)).hits}
    assert found == {first.run_id, last.run_id}
    assert await store.catch_up() == 0
    with pytest.raises(StorageError):
        await store.load(damaged.run_id)


async def test_pages_are_full_whatever_is_left_out(
    store: RedisStorage, keep: Keep, command: Command
) -> None:
    runs = [await keep(store, "x") for _ in range(9)]
    keys = Keys(store.prefix, "default")
    for run in runs[2:7]:
        await command(store, "HSET", keys.run(run.run_id), "summary", "{")

    page = await store.recent(limit=3)
    assert [line.run_id for line in page.runs] == [runs[n].run_id for n in (8, 7, 1)]
    rest = await store.recent(limit=3, cursor=page.next_cursor)
    assert [line.run_id for line in rest.runs] == [runs[0].run_id]


async def test_a_damaged_entry_is_named_and_other_runs_are_read(
    store: RedisStorage, keep: Keep, command: Command, caplog: pytest.LogCaptureFixture
) -> None:
    damaged, whole = await keep(store, "zebra"), await keep(store, "zebra")
    stream = Keys(store.prefix, "default").entries(damaged.run_id)
    ((_, (_, payload)),) = await command(store, "XRANGE", stream, "2-0", "2-0")
    await command(store, "XDEL", stream, "2-0")
    await command(store, "XADD", stream, "3-0", "e", payload)  # readable, and in another's place

    with pytest.raises(StorageError, match=rf"entry 2 of run '{damaged.run_id}' is missing"):
        await store.load(damaged.run_id)
    with caplog.at_level(logging.WARNING):
        hits = (await store.search("zebra", limit=5)).hits
    assert [hit.run_id for hit in hits] == [whole.run_id]
    assert damaged.run_id in caplog.text
    assert len((await store.recent(limit=5)).runs) == 2


async def test_an_unreadable_entry_is_named(
    store: RedisStorage, keep: Keep, command: Command
) -> None:
    run = await keep(store, "one")
    stream = Keys(store.prefix, "default").entries(run.run_id)
    await command(store, "XADD", stream, "3-0", "e", '{"kind": "unknown"}')
    await command(store, "HSET", Keys(store.prefix, "default").run(run.run_id), "version", 3)

    with pytest.raises(StorageError, match=r"entry 3 of run .* cannot be read"):
        await store.load(run.run_id)


async def test_evicted_entries_are_missed_by_readers_and_writers(
    store: RedisStorage, keep: Keep, draft: Keep, command: Command
) -> None:
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
    store: RedisStorage, keep: Keep, command: Command
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
