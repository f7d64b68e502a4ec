"""Which runs a policy lets go; no other is lost by changes meanwhile, archives and full disks."""

import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from sifaka.errors import Fenced, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage import open_store
from sifaka.storage.files import FileStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import Eraser
from sifaka.storage.retention import HybridMemory, Outcome, Policy, carry_out, plan
from tests.storage_contract.log_kinds import LOGS
from tests.stubs.runs import NOW, aged, cancel, draft, listed

pytestmark = pytest.mark.anyio

NOTHING = Policy(max_runs=0, keep_unfinished=False)


@pytest.fixture
def archive(tmp_path: Path) -> FileStorage:
    return FileStorage(tmp_path / "archive")


def ids(outcome: Outcome) -> tuple[list[str], list[str]]:
    return (
        [leaving.run.run_id for leaving in outcome.gone],
        [failure.leaving.run.run_id for failure in outcome.failed],
    )


async def test_what_is_planned_is_forgotten_and_nothing_else() -> None:
    store = MemoryStorage()
    for days in (1, 2, 3):
        await aged(store, f"run_{days}", days=days)
    planned = await plan(store, Policy(max_runs=1))
    assert len((await store.recent(limit=9)).runs) == 3
    for _ in range(2):
        outcome = await carry_out(store, planned)
        assert ids(outcome) == (["run_2", "run_3"], [])
        assert await listed(store) == ["run_1"]


async def test_with_an_archive_every_run_is_there_before_it_is_gone_here(
    archive: FileStorage,
) -> None:
    store = MemoryStorage()
    done = await aged(store, "run_1", days=1, text="Grüße 👩‍👩‍👧")
    waiting = await aged(store, "run_2", days=2, finished=False)
    outcome = await carry_out(store, await plan(store, NOTHING), archive)
    assert ids(outcome) == (["run_1", "run_2"], [])
    assert [await archive.load("run_1"), await archive.load("run_2")] == [done, waiting]
    assert (await store.recent(limit=9)).runs == ()


async def test_a_run_that_has_changed_since_stays(archive: FileStorage) -> None:
    store = MemoryStorage()
    run = await aged(store, "run_1", days=1, finished=False)
    planned = await plan(store, NOTHING)
    after = await draft(store, run, "more")
    for target in (None, archive):
        assert ids(await carry_out(store, planned, target)) == ([], ["run_1"])
        assert await store.load("run_1") == after


async def test_another_run_of_the_same_id_in_the_archive_is_not_touched(
    archive: FileStorage,
) -> None:
    store = MemoryStorage()
    mine = await aged(store, "run_1", days=1, text="mine")
    other = await aged(store, "run_2", days=2)
    theirs = await aged(archive, "run_1", days=1, text="theirs")
    outcome = await carry_out(store, await plan(store, NOTHING), archive)
    assert ids(outcome) == (["run_2"], ["run_1"])
    assert "another run 'run_1'" in outcome.failed[0].error
    assert await store.load("run_1") == mine
    assert [await archive.load(run.run_id) for run in (theirs, other)] == [theirs, other]


async def test_a_part_of_the_store_is_no_archive(archive: FileStorage) -> None:
    keeps = Policy(max_age=timedelta(0))
    store = HybridMemory(short_term=MemoryStorage(), episodic=archive, short_term_keeps=keeps)
    run = await aged(store, "run_1", days=1)
    await store.move()
    outcome = await carry_out(store, await plan(store, NOTHING), archive)
    assert ids(outcome) == ([], ["run_1"])
    assert "or a part of it" in outcome.failed[0].error
    assert await store.load("run_1") == run


async def test_who_worked_on_the_run_is_refused_here_and_there(archive: FileStorage) -> None:
    store = MemoryStorage()
    run = await aged(store, "run_1", days=1, finished=False)
    fence = [await store.claim("run_1") for _ in range(3)][-1]
    await carry_out(store, await plan(store, NOTHING), archive)
    with pytest.raises(ThoughtNotFound):
        await store.load("run_1")
    with pytest.raises(Fenced):
        await draft(archive, run, "more", fence=fence)
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
async def test_a_run_that_is_taken_up_during_the_move_stays(tmp_path: Path, how: str) -> None:
    store = MemoryStorage()
    run = await aged(store, "run_1", days=1, finished=False)

    async def meanwhile() -> None:
        await (cancel(store, run) if how == "cancel" else store.claim("run_1"))

    outcome = await carry_out(store, await plan(store, NOTHING, NOW), Busy(tmp_path, meanwhile))

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


async def test_a_run_that_goes_on_while_it_is_forgotten_stays() -> None:
    async def meanwhile(store: MemoryStorage) -> None:
        await draft(store, run, "more", fence=0)

    store = Watched("before", meanwhile)
    run = await aged(store, "run_1", days=1, finished=False)
    outcome = await carry_out(store, await plan(store, NOTHING))

    assert ids(outcome) == ([], ["run_1"])
    assert (await store.load("run_1")).version == run.version + 1


async def test_who_works_on_a_run_that_is_being_forgotten_is_refused() -> None:
    refused: list[Fenced] = []

    async def meanwhile(store: MemoryStorage) -> None:
        try:
            await draft(store, run, "more", fence=0)
        except Fenced as fenced:
            refused.append(fenced)

    store = Watched("after", meanwhile)
    run = await aged(store, "run_1", days=1, finished=False)
    outcome = await carry_out(store, await plan(store, NOTHING))

    assert ids(outcome) == (["run_1"], [])
    assert len(refused) == 1


@pytest.mark.parametrize("kind", ["sqlite", "file", "redis", "cached"])
async def test_of_many_runs_that_are_forgotten_at_once_those_that_went_on_stay(
    tmp_path: Path, kind: str
) -> None:
    store = LOGS[kind].make(tmp_path)
    assert isinstance(store, Eraser)
    runs = [await aged(store, f"run_{n}", days=n, finished=False) for n in range(1, 5)]
    stranger = await aged(store.scoped("bob"), "run_1", days=1)
    planned = await plan(store, NOTHING)
    await store.delete("run_1")
    await draft(store, runs[1], "more")

    outcome = await carry_out(store, planned)

    assert ids(outcome) == (["run_1", "run_3", "run_4"], ["run_2"])
    assert "has changed meanwhile" in outcome.failed[0].error
    assert await listed(store) == ["run_2"]
    with pytest.raises(VersionConflict):
        await draft(store, runs[2], "more", fence=0)
    assert await store.scoped("bob").load("run_1") == stranger
    await store.aclose()


@pytest.fixture
async def store() -> MemoryStorage:
    """Runs of 1 to 5 days, of which that of 2 and that of 5 days are not finished."""
    store = MemoryStorage()
    for days in range(1, 6):
        await aged(store, f"run_{days}", days=days, text="x" * 1000, finished=days not in {2, 5})
    return store


async def leaving(store: MemoryStorage, **policy: object) -> list[str]:
    planned = await plan(store, Policy.model_validate(policy), NOW)
    assert planned.kept_runs == 5 - len(planned.leaving)
    return [line.run.run_id for line in planned.leaving]


async def test_by_age_all_that_are_older_leave_by_number_the_unfinished_stay_and_without_limit_all(
    store: MemoryStorage,
) -> None:
    assert await leaving(store) == []
    assert await leaving(store, max_age=timedelta(days=3)) == ["run_4", "run_5"]
    assert await leaving(store, max_age=timedelta(days=3, seconds=-1)) == [
        *("run_3", "run_4", "run_5")
    ]
    assert await leaving(store, max_runs=2) == ["run_3", "run_4"]
    assert await leaving(store, max_runs=0) == ["run_1", "run_3", "run_4"]
    assert await leaving(store, max_runs=5) == []
    assert await leaving(store, max_runs=2, keep_unfinished=False) == [*("run_3", "run_4", "run_5")]
    policy = Policy(max_age=timedelta(days=4), max_runs=3, keep_unfinished=False)
    reasons = {line.run.run_id: line.reason for line in (await plan(store, policy, NOW)).leaving}
    assert reasons == {"run_4": "beyond the number", "run_5": "too old"}


@pytest.mark.parametrize("limit", [{"max_age": -1}, {"max_runs": -1}])
def test_a_limit_below_nothing_is_refused(limit: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        Policy.model_validate(limit)


@pytest.fixture
def disk() -> Generator[Path]:
    """A disk of 6 MB, if this system can make one."""
    with tempfile.TemporaryDirectory() as name:
        mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", name]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root can make a disk")
        yield Path(name)
        subprocess.run(["umount", name], check=True)


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def texts_of(disk: Path) -> list[bytes]:
    return [each.read_bytes() for each in disk.rglob("*") if each.is_file()]


async def test_runs_are_forgotten_on_a_disk_without_a_free_byte(disk: Path) -> None:
    url = f"file:///{disk}/runs"
    store = open_store(url, home=disk)
    for number in range(40):
        await aged(store, f"run_{number}", days=number, text=f"zebra{number} " * 3_000)
    await store.catch_up()
    await store.aclose()
    fill(disk)

    store = open_store(url, home=disk)
    outcome = await carry_out(store, await plan(store, Policy(max_runs=1)))
    assert (len(outcome.gone), outcome.failed) == (39, ())
    assert [run.run_id for run in (await store.recent(limit=50)).runs] == ["run_0"]
    await store.aclose()
    assert [each for each in texts_of(disk) if b"zebra7" in each] == []
