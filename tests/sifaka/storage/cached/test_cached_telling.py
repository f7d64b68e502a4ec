"""The words of a store in tiers about itself, when others work on the same queue."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import Setup, begin, catch_up, draft
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio


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


async def test_what_another_process_has_delivered_does_not_wait_any_more(
    setup: Setup, store: CachedStorage
) -> None:
    setup.authority.down = True
    await begin(store)
    setup.authority.down = False
    other = setup.store()
    await catch_up(other)
    await other.aclose()
    await store.catch_up()
    assert store.degraded == ()


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
