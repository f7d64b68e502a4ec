from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest

from sifaka.errors import Fenced, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Entry, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.files import FileStorage
from sifaka.storage.log import copy_run
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import Eraser, ThoughtStore
from sifaka.storage.retention import HybridMemory, Outcome, Policy, carry_out, plan

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
NOTHING = Policy(max_runs=0, keep_unfinished=False)


@pytest.fixture
def archive(tmp_path: Path) -> FileStorage:
    return FileStorage(tmp_path / "archive")


async def draft(store: ThoughtStore, run: Run, fence: int | None = None) -> Run:
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=len(run.thoughts), text="more"))
    after = run.apply(entry)
    await store.append(after, [entry], expected_version=run.version, fence=fence)
    return after


async def cancel(store: ThoughtStore, run: Run) -> None:
    entry = Stopped(status="cancelled", stop_reason="cancelled")
    await store.append(run.apply(entry), [entry], expected_version=run.version)


def ids(outcome: Outcome) -> tuple[list[str], list[str]]:
    return (
        [leaving.run.run_id for leaving in outcome.gone],
        [failure.leaving.run.run_id for failure in outcome.failed],
    )


async def test_what_is_planned_is_forgotten_and_nothing_else(keep: Keep) -> None:
    store = MemoryStorage()
    for days in (1, 2, 3):
        await keep(store, f"run_{days}", days=days)
    planned = await plan(store, Policy(max_runs=1))
    assert len((await store.recent(limit=9)).runs) == 3

    for _ in range(2):
        outcome = await carry_out(store, planned)
        assert ids(outcome) == (["run_2", "run_3"], [])
        assert [line.run_id for line in (await store.recent(limit=9)).runs] == ["run_1"]


async def test_with_an_archive_every_run_is_there_before_it_is_gone_here(
    keep: Keep, archive: FileStorage
) -> None:
    store = MemoryStorage()
    done = await keep(store, "run_1", days=1, text="Grüße 👩‍👩‍👧")
    waiting = await keep(store, "run_2", days=2, finished=False)

    outcome = await carry_out(store, await plan(store, NOTHING), archive)

    assert ids(outcome) == (["run_1", "run_2"], [])
    assert [await archive.load("run_1"), await archive.load("run_2")] == [done, waiting]
    assert (await store.recent(limit=9)).runs == ()


async def test_a_run_that_has_changed_since_stays(keep: Keep, archive: FileStorage) -> None:
    store = MemoryStorage()
    run = await keep(store, "run_1", days=1, finished=False)
    planned = await plan(store, NOTHING)
    after = await draft(store, run)

    for target in (None, archive):
        assert ids(await carry_out(store, planned, target)) == ([], ["run_1"])
        assert await store.load("run_1") == after


async def test_a_move_that_was_broken_off_is_gone_on_with(keep: Keep, archive: FileStorage) -> None:
    store = MemoryStorage()
    run = await keep(store, "run_1", days=1, finished=False)
    await copy_run(store, archive, "run_1")
    after = await draft(store, run)

    assert ids(await carry_out(store, await plan(store, NOTHING), archive)) == (["run_1"], [])
    assert await archive.load("run_1") == after


async def test_another_run_of_the_same_id_in_the_archive_is_not_touched(
    keep: Keep, archive: FileStorage
) -> None:
    store = MemoryStorage()
    mine = await keep(store, "run_1", days=1, text="mine")
    other = await keep(store, "run_2", days=2)
    theirs = await keep(archive, "run_1", days=1, text="theirs")

    outcome = await carry_out(store, await plan(store, NOTHING), archive)

    assert ids(outcome) == (["run_2"], ["run_1"])
    assert "another run 'run_1'" in outcome.failed[0].error
    assert await store.load("run_1") == mine
    assert [await archive.load(run.run_id) for run in (theirs, other)] == [theirs, other]


async def test_an_archive_that_fails_costs_no_run(keep: Keep, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = MemoryStorage()
    run = await keep(store, "run_1", days=1)

    outcome = await carry_out(
        store, await plan(store, NOTHING), FileStorage(tmp_path / "file" / "x")
    )

    assert ids(outcome) == ([], ["run_1"])
    assert "Not a directory" in outcome.failed[0].error
    assert await store.load("run_1") == run


async def test_a_store_that_is_its_own_archive_loses_nothing(
    keep: Keep, archive: FileStorage
) -> None:
    run = await keep(archive, "run_1", days=1)
    same = FileStorage(archive.folder)

    outcome = await carry_out(archive, await plan(archive, NOTHING), same)

    assert ids(outcome) == ([], ["run_1"])
    assert "the archive is the store" in outcome.failed[0].error
    assert await archive.load("run_1") == run
    assert len((await archive.recent(limit=9)).runs) == 1


async def test_a_part_of_the_store_is_no_archive(keep: Keep, archive: FileStorage) -> None:
    store = HybridMemory(short_term=MemoryStorage(), episodic=archive)
    run = await keep(store, "run_1", days=1)
    await store.move(timedelta(0))

    outcome = await carry_out(store, await plan(store, NOTHING), archive)

    assert ids(outcome) == ([], ["run_1"])
    assert "or a part of it" in outcome.failed[0].error
    assert await store.load("run_1") == run


async def test_who_worked_on_the_run_is_refused_here_and_there(
    keep: Keep, archive: FileStorage
) -> None:
    store = MemoryStorage()
    run = await keep(store, "run_1", days=1, finished=False)
    fence = [await store.claim("run_1") for _ in range(3)][-1]
    await carry_out(store, await plan(store, NOTHING), archive)

    with pytest.raises(ThoughtNotFound):
        await store.load("run_1")
    with pytest.raises(Fenced):
        await draft(archive, run, fence)
    assert await archive.claim("run_1") > fence + 1


class Busy(FileStorage):
    """An archive during whose work another process changes the run."""

    def __init__(self, folder: Path, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__(folder)
        self._meanwhile = meanwhile

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        if run.run_id == "run_1":
            await self._meanwhile()


@pytest.mark.parametrize("how", ["cancel", "claim"])
async def test_a_run_that_is_taken_up_during_the_move_stays(
    keep: Keep, tmp_path: Path, how: str, now: datetime
) -> None:
    store = MemoryStorage()
    run = await keep(store, "run_1", days=1, finished=False)

    async def meanwhile() -> None:
        await (cancel(store, run) if how == "cancel" else store.claim("run_1"))

    outcome = await carry_out(store, await plan(store, NOTHING, now), Busy(tmp_path, meanwhile))

    assert ids(outcome) == ([], ["run_1"])
    expected = "cancelled" if how == "cancel" else "running"
    assert (await store.load("run_1")).status == expected


class Watched(MemoryStorage):
    """A store in which something happens just before, or just after, a run is claimed."""

    def __init__(self, when: str, meanwhile: Callable[[MemoryStorage], Awaitable[object]]) -> None:
        super().__init__()
        self._when = when
        self._meanwhile = meanwhile

    async def claim(self, run_id: str) -> int:
        if self._when == "before":
            await self._meanwhile(self)
        fence = await super().claim(run_id)
        if self._when == "after":
            await self._meanwhile(self)
        return fence


async def test_a_run_that_goes_on_while_it_is_forgotten_stays(keep: Keep) -> None:
    async def meanwhile(store: MemoryStorage) -> None:
        await draft(store, run, fence=0)

    store = Watched("before", meanwhile)
    run = await keep(store, "run_1", days=1, finished=False)
    outcome = await carry_out(store, await plan(store, NOTHING))

    assert ids(outcome) == ([], ["run_1"])
    assert (await store.load("run_1")).version == run.version + 1


async def test_who_works_on_a_run_that_is_being_forgotten_is_refused(keep: Keep) -> None:
    refused: list[Fenced] = []

    async def meanwhile(store: MemoryStorage) -> None:
        try:
            await draft(store, run, fence=0)
        except Fenced as fenced:
            refused.append(fenced)

    store = Watched("after", meanwhile)
    run = await keep(store, "run_1", days=1, finished=False)
    outcome = await carry_out(store, await plan(store, NOTHING))

    assert ids(outcome) == (["run_1"], [])
    assert len(refused) == 1


@pytest.mark.parametrize("kind", ["sqlite", "file", "redis", "cached"])
async def test_of_many_runs_that_are_forgotten_at_once_those_that_went_on_stay(
    keep: Keep, tmp_path: Path, kind: str
) -> None:
    store: ThoughtStore = import_module(f"tests.storage_contract.logs.{kind}").make(tmp_path)
    assert isinstance(store, Eraser)
    runs = [await keep(store, f"run_{n}", days=n, finished=False) for n in range(1, 5)]
    stranger = await keep(store.scoped("bob"), "run_1", days=1)
    planned = await plan(store, NOTHING)
    await store.delete("run_1")
    await draft(store, runs[1])

    outcome = await carry_out(store, planned)

    assert ids(outcome) == (["run_1", "run_3", "run_4"], ["run_2"])
    assert "has changed meanwhile" in outcome.failed[0].error
    assert [line.run_id for line in (await store.recent(limit=9)).runs] == ["run_2"]
    with pytest.raises(VersionConflict):
        await draft(store, runs[2], fence=0)
    assert await store.scoped("bob").load("run_1") == stranger
    await store.aclose()
