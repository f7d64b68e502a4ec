"""Runs that go on while their log is away, and are whole when it is back."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from sifaka.errors import ConfigurationError, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry, Stopped
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import (
    RemoteStore,
    SearchIndexInMemory,
    Setup,
    begin,
    draft,
)
from tests.stubs.runs import Seen, catch_up, names, stop, texts
from tests.stubs.stores import PassingStore, Switch

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("keeps", [False, True], ids=["lost", "kept although it failed"])
async def test_a_run_goes_on_while_the_authority_is_down_and_is_complete_when_it_is_back(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage, keeps: bool
) -> None:
    run = await draft(store, await begin(store), "before")
    setup.authority.down, setup.authority.keeps = True, keeps
    for number in range(3):
        run = await draft(store, run, f"during {number}")
        assert await store.load(run.run_id) == run
    assert store.degraded == ("remote: not reachable; 3 appends are queued on disk",)
    queue = (await store.health())[-1]
    assert queue.works
    assert "3 for remote" in queue.found

    setup.authority.down = False
    run = await draft(store, run, "after")

    assert await truth.load(run.run_id) == run
    assert texts(run) == ["before", "during 0", "during 1", "during 2", "after"]
    assert store.degraded == ()
    assert await store.load(run.run_id) == run


async def test_a_run_begins_and_is_listed_while_the_authority_is_down(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage
) -> None:
    cached = await begin(store)
    setup.authority.down = setup.copy.down = True
    run = await draft(store, await begin(store), "during")

    listed = (await store.recent(limit=1)).runs
    assert listed == (run.summary(),)
    cursor = (await store.recent(limit=1)).next_cursor
    assert (await store.recent(limit=1, cursor=cursor)).runs == (cached.summary(),)
    assert await store.load(run.run_id) == run
    assert await store.claim(run.run_id) == 0
    with pytest.raises(StorageError):
        await store.claim(cached.run_id)
    with pytest.raises(StorageError):
        await store.load("run_0")

    setup.authority.down = False
    assert await store.claim(run.run_id) == 1
    assert await truth.load(run.run_id) == run


async def test_another_process_goes_on_with_what_a_first_one_has_queued(
    setup: Setup, truth: SQLiteStorage
) -> None:
    first, second = setup.store(), setup.store()
    setup.authority.down = True
    run = await draft(first, await begin(first), "first")
    await catch_up(first)  # the index gets it at once
    run = await draft(second, await second.load(run.run_id), "second")
    setup.authority.down = False
    await second.aclose()
    await first.aclose()
    assert await truth.load(run.run_id) == run
    assert texts(run) == ["first", "second"]


async def test_appends_that_do_not_continue_what_is_queued_are_conflicts(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage
) -> None:
    run = await begin(store)
    setup.authority.down = True
    ours = await draft(store, run, "ours")
    with pytest.raises(VersionConflict) as caught:
        await draft(store, run, "theirs")
    assert (caught.value.expected, caught.value.found) == (1, 2)
    entry = Stopped(status="cancelled", stop_reason="cancelled")
    ended = ours.apply(entry)
    for _ in range(2):  # a repeat is done already
        await store.append(ended, [entry], expected_version=2)

    setup.authority.down = False
    await catch_up(store)
    assert await truth.load(run.run_id) == ended


@pytest.mark.parametrize("theirs", [1, 2, 3])
async def test_a_run_with_which_others_went_on_is_not_forked_and_nothing_is_lost(
    setup: Setup,
    store: CachedStorage,
    truth: SQLiteStorage,
    archive: SearchIndexInMemory,
    theirs: int,
) -> None:
    run = await begin(store)
    setup.authority.down = True
    ours = await draft(store, await draft(store, run, "our 0"), "our 1")
    await catch_up(store)
    assert await archive.load(run.run_id) == ours
    other = run
    for number in range(theirs):
        other = await draft(truth, other, f"their {number}")
    setup.authority.down = False

    # Also when both sides have the same number of entries: the caller's are other ones.
    for _ in range(2):
        with pytest.raises(VersionConflict):
            await draft(store, ours, "our 2")

    assert await store.load(run.run_id) == other
    await catch_up(store)
    assert await archive.load(run.run_id) == other
    (line,) = store.degraded
    assert run.run_id in line
    assert not (await store.health())[-1].works
    assert store.scoped("guest").degraded == ()
    kept = [entry for refused in await store.refused() for entry in refused.entries]
    assert [entry.thought.text for entry in kept if entry.kind == "drafted"] == ["our 0", "our 1"]
    # Who has loaded the run goes on.
    after = await draft(store, await store.load(run.run_id), "agreed")
    assert await truth.load(run.run_id) == after
    await store.delete(run.run_id)
    assert store.degraded == ()
    assert await store.refused() == ()


async def test_entries_of_who_was_replaced_meanwhile_are_refused(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage, archive: SearchIndexInMemory
) -> None:
    run = await begin(store)
    fence = await store.claim(run.run_id)
    setup.authority.down = True
    ours = await draft(store, run, "late", fence=fence)
    await truth.claim(run.run_id)
    await catch_up(store)
    assert await archive.load(run.run_id) == ours
    setup.authority.down = False
    await catch_up(store)

    assert await truth.load(run.run_id) == run
    assert await archive.load(run.run_id) == run
    assert [refused.run_id for refused in await store.refused()] == [run.run_id]
    with pytest.raises(StorageError):
        await draft(store, ours, "and on", fence=fence)


async def test_no_run_is_deleted_while_the_authority_is_down(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage
) -> None:
    run = await draft(store, await begin(store), "a zebra")
    await catch_up(store)
    setup.authority.down = True
    with pytest.raises(StorageError, match="not reachable"):
        await store.delete(run.run_id)
    late = await draft(store, run, "late")
    with pytest.raises(StorageError, match="wait until remote"):
        await store.delete(run.run_id)

    setup.authority.down = False
    await catch_up(store)
    assert await truth.load(run.run_id) == late
    assert len((await store.search("zebra", limit=3)).hits) == 1
    await store.delete(run.run_id)
    with pytest.raises(ThoughtNotFound):
        await truth.load(run.run_id)


async def test_a_store_that_is_down_is_not_asked_again_at_once(setup: Setup) -> None:
    store = setup.store(retry_after=600)
    run = await begin(store)
    setup.authority.down = True
    run = await draft(store, run, "noticed")
    asked = setup.authority.asked
    for number in range(5):
        run = await draft(store, run, f"queued {number}")
        await store.load(run.run_id)
    assert setup.authority.asked == asked

    setup.authority.down = False
    await store.health()  # which finds it working
    await catch_up(store)
    assert setup.authority.appended == 7
    setup.authority.down = True
    await draft(store, run, "at the end")
    setup.authority.down = False
    await store.aclose()  # which asks once more
    assert setup.authority.appended == 8


async def test_without_a_queue_the_failure_is_the_callers(tmp_path: Path) -> None:
    switch = Switch()
    store = CachedStorage(MemoryStorage(), RemoteStore(SQLiteStorage(tmp_path / "runs.db"), switch))
    run = await begin(store)
    switch.down = True
    with pytest.raises(StorageError, match="not reachable"):
        await draft(store, run, "x")
    assert await store.load(run.run_id) == run
    assert store.degraded == ("remote: not reachable",)
    switch.down = False
    run = await draft(store, run, "y")
    assert await store.load(run.run_id) == run
    await store.aclose()
    assert names(tmp_path) == ["runs.db"]


async def test_a_follower_sees_a_run_through_an_outage(setup: Setup, store: CachedStorage) -> None:
    run = await begin(store)
    seen = Seen()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(seen.follow, store.follow(run.run_id))
            await seen.until(1)
            setup.authority.down = True
            run = await draft(store, run, "one")
            run = await draft(store, run, "two")
            await seen.until(3)
            setup.authority.down = False
            run = await draft(store, run, "three")
            await seen.until(4)
            run = await stop(store, run)

    assert seen.versions == [1, 2, 3, 4, 5]
    assert (seen.steps[-1][0].kind, seen.steps[-1][1]) == ("stopped", run)


async def test_a_follower_is_told_what_will_not_pass_by_itself(tmp_path: Path) -> None:
    class Damaged(PassingStore):
        async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
            async with aclosing(self.inner.follow(run_id, after=after)) as steps:
                yield await anext(steps)
            raise StorageError("entry 2 is missing")

    truth = SQLiteStorage(tmp_path / "runs.db")
    store = CachedStorage(MemoryStorage(), Damaged(truth), queue=tmp_path / "queue.db")
    run = await draft(store, await begin(store), "x")
    seen = Seen()
    with anyio.fail_after(20), pytest.raises(StorageError, match="entry 2"):
        await seen.follow(store.follow(run.run_id))
    assert seen.versions == [1]
    await store.aclose()


async def test_the_queue_is_for_its_owners_eyes_and_no_other_programs_file(
    setup: Setup, store: CachedStorage
) -> None:
    await begin(store)
    assert setup.queue.stat().st_mode & 0o777 == 0o600
    wrong = setup.store(queue=setup.folder / "runs.db")
    with pytest.raises(ConfigurationError):
        await begin(wrong)
    await wrong.aclose()
