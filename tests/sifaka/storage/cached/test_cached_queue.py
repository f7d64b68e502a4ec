"""An index that is away or behind, the queue for it, and what a store in tiers says of itself."""

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from sifaka.errors import (
    ConfigurationError,
    SifakaError,
    StorageError,
    ThoughtNotFound,
)
from sifaka.record.entries import Entry, Started
from sifaka.record.run import Run
from sifaka.storage import parts as asking
from sifaka.storage.cached import CachedCheckpointStorage, CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.parts import Part
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.store import Newest
from tests.sifaka.storage.cached.layered import SearchIndexInMemory, Setup, begin, draft
from tests.sifaka.storage.processes import start
from tests.stubs.runs import catch_up, names
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio


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


@pytest.mark.slow
@pytest.mark.parametrize("when", ["queued", "before the index was queued"])
async def test_what_a_killed_process_has_queued_another_one_delivers(
    setup: Setup, archive: SearchIndexInMemory, truth: SQLiteStorage, when: str
) -> None:
    with anyio.fail_after(60):
        process = start("append_and_die", setup.folder, when)
        said, _ = await to_thread.run_sync(process.communicate)
    assert process.returncode == -signal.SIGKILL
    ids = json.loads(said)
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


class Locked(PassingStore):
    """Refuses everything, until it is unlocked."""

    locked = True

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self.let_in()
        await super().append(run, entries, expected_version=expected_version, fence=fence)

    async def load(self, run_id: str) -> Run:
        self.let_in()
        return await super().load(run_id)

    async def catch_up(self) -> int:
        self.let_in()
        return 0

    @classmethod
    def let_in(cls) -> None:
        if cls.locked:
            raise StorageError("refuses the password")


async def test_a_run_that_another_process_has_delivered_is_not_told_to_be_stuck(
    setup: Setup, store: CachedStorage
) -> None:
    run = await begin(store)
    setup.copy.poison = run.run_id
    await catch_up(store)
    assert store.degraded == (f"search: run {run.run_id!r} is not delivered: too large",)
    setup.copy.poison = None
    other = setup.store()
    await catch_up(other)
    await other.aclose()
    await store.catch_up()
    assert store.degraded == ()


async def test_a_new_process_tells_what_was_refused_before_it_began(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage
) -> None:
    run = await begin(store)
    setup.authority.down = True
    await draft(store, run, "late")
    await draft(truth, run, "in time")
    setup.authority.down = False
    await catch_up(store)

    later = setup.store()
    await later.load(run.run_id)
    assert f"1 entry of run {run.run_id!r}" in later.degraded[0]
    assert "was refused" in later.degraded[0]
    await later.aclose()


async def test_a_password_that_is_wrong_is_told_once_and_until_it_is_right(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = CachedStorage(
        MemoryStorage(), Locked(SQLiteStorage(setup.folder / "locked.db")), queue=setup.queue
    )
    monkeypatch.setattr(Locked, "locked", False)
    runs = [await begin(locked) for _ in range(5)]
    monkeypatch.setattr(Locked, "locked", True)
    for run in runs:
        await draft(locked, run, "meanwhile")
    await locked.catch_up()
    assert locked.degraded == ("locked: refuses the password; 5 appends are queued on disk",)
    monkeypatch.setattr(Locked, "locked", False)
    await catch_up(locked)
    assert locked.degraded == ()
    await locked.aclose()


async def test_a_password_that_is_wrong_from_the_beginning_is_an_error(setup: Setup) -> None:
    locked = CachedStorage(
        MemoryStorage(), Locked(SQLiteStorage(setup.folder / "locked.db")), queue=setup.queue
    )
    with pytest.raises(StorageError, match="refuses the password"):
        await begin(locked)
    await locked.aclose()
    assert not any("queued" in line for line in locked.degraded)


async def test_many_runs_that_are_refused_are_told_in_a_few_lines(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage
) -> None:
    runs = [await begin(store) for _ in range(5)]
    setup.authority.down = True
    for run in runs:
        await draft(store, run, "late")
        await draft(truth, run, "in time")
    setup.authority.down = False
    await catch_up(store)
    assert len(store.degraded) == 4
    assert store.degraded[-1] == "2 more runs have entries that were refused"


async def test_what_waits_for_a_store_that_is_not_a_tier_any_more_is_told(
    setup: Setup, store: CachedStorage, tmp_path: Path
) -> None:
    setup.authority.down = True
    await begin(store)
    other = CachedStorage(MemoryStorage(), SQLiteStorage(tmp_path / "other.db"), queue=setup.queue)
    await other.catch_up()
    (told,) = [line for line in other.degraded if line.startswith("remote")]
    assert "the store has no such part now" in told
    await other.aclose()


async def test_a_claim_of_a_run_that_others_may_hold_waits_for_the_authority(
    setup: Setup, store: CachedStorage, truth: SQLiteStorage
) -> None:
    setup.authority.down = True
    run = await begin(store)
    assert await store.claim(run.run_id) == 0
    setup.authority.down = False
    await catch_up(store)
    assert await truth.claim(run.run_id) == 1
    setup.authority.down = True
    await draft(store, run, "late")
    with pytest.raises(StorageError, match="wait until remote"):
        await store.claim(run.run_id)


def test_a_cache_forgets_what_was_not_kept_for_longest() -> None:
    cache = Newest[str, int](2)
    for run_id, version in (("first", 1), ("second", 1), ("first", 2), ("third", 1)):
        cache[run_id] = version
    assert cache == {"first": 2, "third": 1}


async def test_stores_of_parts_are_nested_but_need_one_log(tmp_path: Path) -> None:
    memory, middle, last = MemoryStorage(), SQLiteStorage(tmp_path / "a"), SearchIndexInMemory()
    inner = CachedStorage(middle, last, queue=tmp_path / "queue.db")
    outer = CachedStorage(cache=memory, persistence=inner)
    with pytest.raises(ConfigurationError, match="twice"):
        CachedStorage(memory, memory)
    run = await draft(outer, await begin(outer), "x")
    await outer.aclose()
    assert await last.load(run.run_id) == run

    with pytest.raises(ConfigurationError, match="no log"):
        CachedStorage(SearchIndexInMemory(), SearchIndexInMemory())

    first, second = (SQLiteStorage(tmp_path / name) for name in ("a", "b"))
    with pytest.raises(ConfigurationError, match="second log") as caught:
        CachedStorage(MemoryStorage(), CachedStorage(first, second))
    assert first.place in caught.value.message
    assert second.place in caught.value.message
    assert "archive" in (caught.value.suggestion or "")


async def test_checkpoints_are_the_entries_of_a_store(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    checkpoints = CachedCheckpointStorage(store)
    run = await draft(checkpoints, await begin(checkpoints), "x")
    assert await store.load(run.run_id) == run
    assert [part.part for part in await checkpoints.health()][1:] == ["queue in memory"]
    await checkpoints.aclose()
    assert names(tmp_path) == ["runs.db"]


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asking, "time", clock)
    return clock


def down(*, retryable: bool = True) -> StorageError:
    failure = StorageError("down")
    failure.retryable = retryable
    return failure


def attempt(tier: Part[MemoryStorage], work: Callable[[], object] = lambda: None) -> bool:
    """True when it was asked."""
    asked: list[bool] = []
    try:
        with tier.attempt():
            asked.append(True)
            work()
    except SifakaError:
        pass
    return bool(asked)


def raising(error: SifakaError, clock: Clock, *, after: float = 0) -> Callable[[], object]:
    def work() -> None:
        clock.passes(after)
        raise error

    return work


@pytest.mark.parametrize(
    ("hangs", "paused"), [(5, 39), (0, 4)], ids=["a ninth of the time at most", "asked again soon"]
)
def test_a_tier_that_fails_is_left_alone_for_a_while(
    clock: Clock, hangs: float, paused: float
) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock, after=hangs))
    clock.passes(paused)
    assert not attempt(tier)
    clock.passes(2)
    assert attempt(tier)


def test_one_finds_out_for_all_whether_a_tier_works_again(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock))
    clock.passes(6)
    meanwhile: list[bool] = []
    assert attempt(tier, lambda: meanwhile.append(attempt(tier)))
    assert meanwhile == [False]
    assert attempt(tier)
    assert tier.failure is None


def test_who_was_cancelled_has_not_found_out(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock))
    clock.passes(6)
    with pytest.raises(KeyboardInterrupt), tier.attempt():
        raise KeyboardInterrupt
    assert attempt(tier)


def test_a_tier_that_knows_no_such_run_or_fails_for_one_works_for_others(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(retryable=False), clock))
    meanwhile: list[bool] = []
    assert attempt(tier, lambda: meanwhile.append(attempt(tier)))
    assert meanwhile == [True]
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock))
    clock.passes(6)
    attempt(tier, raising(ThoughtNotFound("run_x"), clock))
    assert tier.failure is None
    tier = Part("redis", MemoryStorage(), retry_after=0)
    attempt(tier, raising(down(), clock, after=5))
    assert attempt(tier)
