import json
import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from sifaka.errors import ThoughtNotFound, VersionConflict
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory, Setup, begin, catch_up, draft

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]
KILLED = Path(__file__).with_name("append_and_die.py")


async def found(store: ThoughtStore | SearchIndexInMemory, query: str) -> list[str]:
    return [hit.run_id for hit in (await store.search(query, limit=9)).hits]


async def test_a_search_tier_that_is_down_gets_everything_in_order_and_once(
    setup: Setup, store: CachedStorage, archive: SearchIndexInMemory
) -> None:
    setup.copy.down = True
    runs = [await begin(store) for _ in range(3)]
    for text in ("a zebra", "a lion", "an otter"):
        runs = [await draft(store, run, text) for run in runs]
        await catch_up(store)
    with pytest.raises(ThoughtNotFound):
        await archive.load(runs[0].run_id)
    assert store.degraded == ("search: not reachable; 3 runs are queued on disk",)

    setup.copy.down = False
    await catch_up(store)

    assert [await archive.load(run.run_id) for run in runs] == runs
    assert sorted(await found(archive, "otter")) == sorted(run.run_id for run in runs)
    assert setup.copy.appended == 9
    assert store.degraded == ()
    await catch_up(store)
    assert setup.copy.appended == 9


async def test_a_search_sees_what_was_just_appended_and_says_where_it_looked(
    setup: Setup, store: CachedStorage
) -> None:
    run = await draft(store, await begin(store), "a zebra")

    assert (await store.search("zebra", limit=3)).search == "bm25"
    assert setup.copy.appended == 1

    setup.copy.down = True
    run = await draft(store, run, "an otter")
    hits = await store.search("otter", limit=3)
    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25 (search is down)"


async def test_a_refused_append_leaves_nothing_for_the_index(
    setup: Setup, store: CachedStorage, archive: SearchIndexInMemory
) -> None:
    run = await begin(store)
    ours = await draft(store, run, "first")
    with pytest.raises(VersionConflict):
        await draft(store, run, "second")
    await catch_up(store)

    assert await archive.load(run.run_id) == ours
    assert setup.copy.appended == 1


async def test_a_run_deleted_while_an_index_is_down_is_deleted_there_later(
    setup: Setup, store: CachedStorage, archive: SearchIndexInMemory
) -> None:
    run = await draft(store, await begin(store), "a zebra")
    await catch_up(store)
    setup.copy.down = True
    await store.delete(run.run_id)
    assert await archive.load(run.run_id) == run

    setup.copy.down = False
    with pytest.raises(ThoughtNotFound):
        await store.load(run.run_id)
    assert await found(store, "zebra") == []
    with pytest.raises(ThoughtNotFound):
        await archive.load(run.run_id)


async def test_closing_delivers_what_waits(setup: Setup, archive: SearchIndexInMemory) -> None:
    store = setup.store()
    run = await draft(store, await begin(store), "x")
    await store.aclose()

    assert await archive.load(run.run_id) == run


@pytest.mark.slow
@pytest.mark.parametrize("when", ["queued", "before the index was queued"])
async def test_what_a_killed_process_has_queued_another_one_delivers(
    setup: Setup, archive: SearchIndexInMemory, truth: SQLiteStorage, when: str
) -> None:
    with anyio.fail_after(60):
        ended = await anyio.run_process(
            [sys.executable, str(KILLED), str(setup.folder), when],
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    ids = json.loads(ended.stdout)
    for run_id in ids:
        with pytest.raises(ThoughtNotFound):
            await archive.load(run_id)

    store = setup.store()
    await catch_up(store)
    await store.aclose()

    copies = [await archive.load(run_id) for run_id in ids]
    assert copies == [await truth.load(run_id) for run_id in ids]
    assert [len(run.thoughts) for run in copies] == [4, 4, 4]


async def test_a_queue_that_cannot_be_written_makes_an_index_late_and_no_append_fail(
    setup: Setup, archive: SearchIndexInMemory
) -> None:
    setup.queue.mkdir()
    store = setup.store()
    run = await draft(store, await begin(store), "x")
    assert await store.load(run.run_id) == run
    assert await store.claim(run.run_id) == 1
    (told,) = store.degraded
    assert str(setup.queue) in told
    setup.queue.rmdir()

    await catch_up(store)
    assert store.degraded == ()
    await store.aclose()

    assert await archive.load(run.run_id) == run


async def test_a_run_that_an_index_will_not_take_holds_up_no_other_run(
    setup: Setup, archive: SearchIndexInMemory
) -> None:
    store = setup.store()
    started = Started(run_id="poison")
    setup.copy.poison = "poison"
    await store.append(Run.start(started), [started], expected_version=0)
    run = await draft(store, await begin(store), "x")
    await catch_up(store)

    assert await archive.load(run.run_id) == run
    assert "search: run 'poison' is not delivered: too large" in store.degraded
    assert "poison" not in " ".join(store.scoped("guest").degraded)
    await store.aclose()
