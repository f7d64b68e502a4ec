import logging
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Stopped
from sifaka.storage.files import FileStorage
from sifaka.storage.log import read_entries
from sifaka.storage.retention import HybridMemory, Policy, carry_out, plan
from tests.stubs.runs import Seen, aged, append, draft, found, listed

pytestmark = pytest.mark.anyio
NEVER = timedelta(0)


@pytest.fixture
def memory(tmp_path: Path) -> HybridMemory:
    return HybridMemory(
        short_term=FileStorage(tmp_path / "short"),
        episodic=FileStorage(tmp_path / "episodes"),
        short_term_keeps=Policy(max_age=NEVER),
    )


async def moved(memory: HybridMemory) -> list[str]:
    outcome = await memory.move()
    assert outcome.failed == ()
    return [leaving.run.run_id for leaving in outcome.gone]


def break_it(folder: Path) -> None:
    """Put a file where a store's folder was."""
    if folder.exists():
        folder.rename(folder.with_suffix(".away"))
    folder.touch()


def mend_it(folder: Path) -> None:
    folder.unlink()
    away = folder.with_suffix(".away")
    if away.exists():
        away.rename(folder)


async def test_pages_go_through_both_memories_without_loss_or_repeat(memory: HybridMemory) -> None:
    for number in range(10):
        await aged(memory, f"run_{number}", days=number, finished=number % 3 == 0)
    await moved(memory)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await memory.recent(limit=3, cursor=cursor)
        seen += [line.run_id for line in page.runs]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == [f"run_{number}" for number in range(10)]


async def test_a_run_that_was_moved_is_carried_on_where_it_is_by_who_claims_it_then(
    memory: HybridMemory,
) -> None:
    run = await aged(memory, "run_1", days=1)
    before = await memory.claim("run_1")
    assert await moved(memory) == ["run_1"]

    assert await memory.load("run_1") == run
    assert len([step async for step in memory.follow("run_1")]) == run.version
    with pytest.raises(Fenced):
        await draft(memory, run, "late", fence=before)
    fence = await memory.claim("run_1")
    assert fence > before
    after = await draft(memory, run, "a heron", fence=fence)

    assert await memory.load("run_1") == await memory.episodic.load("run_1") == after
    assert await listed(memory.short_term) == []
    assert await found(memory, "heron") == ["run_1"]
    with pytest.raises(VersionConflict):
        await draft(memory, run, "another")
    assert await listed(memory) == ["run_1"]


async def test_a_creation_that_is_repeated_after_the_move_makes_no_second_run(
    memory: HybridMemory,
) -> None:
    run = await aged(memory, "run_1", days=1)
    entries = (await read_entries(memory, run.run_id, run.version))[1]
    await moved(memory)
    await memory.append(run, entries, expected_version=0)
    with pytest.raises(VersionConflict):
        await aged(memory, "run_1", days=2, text="another")
    assert await listed(memory.short_term) == []
    assert await memory.load("run_1") == run


async def test_a_follower_stays_with_a_run_that_is_moved(memory: HybridMemory) -> None:
    run = await aged(memory, "run_1", days=1, finished=False)
    seen = Seen()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(seen.follow, memory.follow("run_1"))
            await seen.until(run.version)
            ended = Stopped(status="done", stop_reason="passed", at=run.updated_at)
            await append(memory, run, ended)
            assert await moved(memory) == ["run_1"]
    assert seen.versions == [1, 2, 3]


async def test_a_move_that_was_broken_off_shows_the_run_once(memory: HybridMemory) -> None:
    run = await aged(memory, "run_1", days=1, text="a heron")
    entries = (await read_entries(memory, run.run_id, run.version))[1]
    await memory.episodic.append(run, entries, expected_version=0)
    hits = (await memory.search("heron", limit=5)).hits
    assert [hit.run_id for hit in hits] == ["run_1"]
    assert await listed(memory) == ["run_1"]
    after = await draft(memory, run, "a stork")
    assert await listed(memory) == ["run_1"]
    assert await memory.load("run_1") == after


async def test_hits_of_both_memories_are_merged_by_rank(memory: HybridMemory) -> None:
    await aged(memory, "moved_1", days=3, text="heron heron")
    await aged(memory, "moved_2", days=3, text="heron and many more words besides")
    await moved(memory)
    await aged(memory, "young_1", days=1, text="heron heron")
    await aged(memory, "young_2", days=1, text="heron and many more words besides")
    hits = await memory.search("heron", limit=9)
    ids = [hit.run_id for hit in hits.hits]
    assert [set(ids[:2]), set(ids[2:])] == [{"young_1", "moved_1"}, {"young_2", "moved_2"}]
    assert len((await memory.search("heron", limit=3)).hits) == 3
    assert hits.search == "bm25"


async def test_a_move_without_the_record_is_put_off(memory: HybridMemory, tmp_path: Path) -> None:
    await aged(memory, "run_1", days=1)
    break_it(tmp_path / "episodes")
    outcome = await memory.move()
    assert [failure.leaving.run.run_id for failure in outcome.failed] == ["run_1"]
    assert await listed(memory.short_term) == ["run_1"]
    hits = await memory.search("x", limit=5)
    assert [hit.run_id for hit in hits.hits] == ["run_1"]
    assert "incomplete: the store" in hits.search
    mend_it(tmp_path / "episodes")
    assert await moved(memory) == ["run_1"]


async def test_when_its_store_fails_a_run_is_read_from_the_record_and_not_written(
    memory: HybridMemory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archived = await aged(memory, "archived", days=1)
    await moved(memory)
    mine = await draft(memory, await aged(memory, "mine", days=1, finished=False), "more")
    done = await aged(memory, "done", days=1)
    break_it(tmp_path / "short")

    with caplog.at_level(logging.WARNING):
        assert await memory.load("archived") == archived
    assert len(caplog.records) == 1
    for failing in (draft(memory, mine, "x"), memory.load(done.run_id), memory.load("unknown")):
        with pytest.raises(StorageError, match="Not a directory"):
            await failing
    assert [health.works for health in await memory.health()] == [False, True]

    mend_it(tmp_path / "short")
    assert await memory.load("done") == done
    assert await draft(memory, mine, "x")


async def test_what_is_forgotten_is_nowhere(memory: HybridMemory) -> None:
    await aged(memory, "moved", days=3, text="heron")
    await moved(memory)
    await aged(memory, "young", days=2, text="heron")
    kept = await aged(memory, "newest", days=1, text="heron")

    outcome = await carry_out(memory, await plan(memory, Policy(max_runs=1)))

    assert [leaving.run.run_id for leaving in outcome.gone] == ["young", "moved"]
    for part in (memory, memory.short_term, memory.episodic):
        for run_id in ("young", "moved"):
            with pytest.raises(ThoughtNotFound):
                await part.load(run_id)
    assert await memory.load("newest") == kept
    assert await found(memory, "heron") == ["newest"]
