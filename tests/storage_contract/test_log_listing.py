"""Runs are listed and followed, some are damaged, some expire, and logs are closed."""

import base64
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime

import anyio
import pytest

from sifaka.errors import ConfigurationError, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from tests.storage_contract.log_kinds import Log
from tests.storage_contract.runs import keep
from tests.stubs.runs import Seen, append, cancel, draft, drafted, listed, stop

pytestmark = pytest.mark.anyio


async def pages(log: ThoughtStore, limit: int) -> list[str]:
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await log.recent(limit=limit, cursor=cursor)
        assert len(page.runs) <= limit
        ids += [line.run_id for line in page.runs]
        cursor = page.next_cursor
        if cursor is None:
            return ids


async def test_pages_show_25_runs_newest_first_without_loss_or_repeat(log: ThoughtStore) -> None:
    page = await log.recent(limit=10)
    assert (page.runs, page.next_cursor) == ((), None)
    runs = [await keep(log, f"text {n}") for n in range(25)]
    for limit in (1, 7, 24, 25, 26):
        assert await pages(log, limit) == [run.run_id for run in reversed(runs)], limit


async def test_runs_of_the_same_moment_are_all_listed(log: ThoughtStore) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [f"run_{n}" for n in range(9)]
    for run_id in ids:
        started = Started(run_id=run_id, at=moment)
        await log.append(Run.start(started), [started], expected_version=0)
    assert sorted(await pages(log, 2)) == ids


async def test_the_order_is_by_time_whatever_the_zone(log: ThoughtStore) -> None:
    moments = {
        "before-1970": datetime(1960, 1, 1, tzinfo=UTC),
        "utc": datetime(2026, 1, 1, 12, tzinfo=UTC),
        "east": datetime.fromisoformat("2026-01-01T14:30:00+02:00"),
        "microsecond-later": datetime(2026, 1, 1, 12, 30, 0, 1, tzinfo=UTC),
    }
    for run_id, moment in moments.items():
        started = Started(run_id=run_id, at=moment)
        await log.append(Run.start(started), [started], expected_version=0)

    assert await pages(log, 3) == list(reversed(moments))
    lines = (await log.recent(limit=9)).runs
    assert [line.created_at for line in reversed(lines)] == list(moments.values())


async def test_a_run_updated_between_two_pages_moves_to_the_front(log: ThoughtStore) -> None:
    runs = [await keep(log, f"text {n}") for n in range(7)]
    newest_first = [run.run_id for run in reversed(runs)]
    first = await log.recent(limit=3)

    shown_already = await cancel(log, runs[5])
    not_shown_yet = await cancel(log, runs[1])
    rest = await log.recent(limit=7, cursor=first.next_cursor)

    # Nothing repeats; runs that were not touched are there once; those that moved are in front.
    assert [line.run_id for line in rest.runs] == [
        run_id for run_id in newest_first[3:] if run_id != not_shown_yet.run_id
    ]
    front = await log.recent(limit=2)
    assert [line.run_id for line in front.runs] == [not_shown_yet.run_id, shown_already.run_id]


async def test_a_cursor_that_is_none_is_refused_in_one_line(log: ThoughtStore) -> None:
    for _ in range(3):
        await keep(log, "x")
    cursor = (await log.recent(limit=1)).next_cursor
    assert cursor
    assert cursor.replace("-", "").replace("_", "").isalnum()

    wrong = ["", "x", "=", "é", "\ud800", "AAAA" * 9, cursor + "=", f" {cursor}", f"{cursor}'"]
    wrong += [cursor[:n] for n in range(1, len(cursor))]
    texts = ("null", "[]", "[1]", '["1", "x"]', "[1, 2]", '[1,"x"]', f'[{2**63}, "x"]')
    texts += ('[1.5, "x"]', '[true, "x"]', '[1, "\\ud800"]', '{"1": "x"}', '[1, "x", 2]')
    wrong += [base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") for text in texts]
    for tampered in wrong:
        with pytest.raises(ConfigurationError, match="is not a cursor") as caught:
            await log.recent(limit=1, cursor=tampered)
        assert "\n" not in str(caught.value)
    assert len((await log.recent(limit=9, cursor=cursor)).runs) == 2


async def test_a_follower_sees_every_entry_as_it_comes_and_leaves_at_the_end(
    log: ThoughtStore,
) -> None:
    run = await keep(log, "x")
    seen = Seen()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(seen.follow, log.follow(run.run_id))
            await seen.until(run.version)
            await stop(log, await draft(log, run, "ü 👩‍👩‍👧"))

    assert [e.kind for e, _ in seen.steps] == ["started", "drafted", "drafted", "stopped"]
    assert seen.versions == [1, 2, 3, 4]
    assert seen.steps[-1][1] == await log.load(run.run_id)


async def test_a_follower_may_begin_in_the_middle(log: ThoughtStore) -> None:
    run = await keep(log, "one", "two")
    ended = await cancel(log, run)
    with anyio.fail_after(30):
        seen = [step async for step in log.follow(run.run_id, after=2)]
    assert [(entry.kind, at.version) for entry, at in seen] == [("drafted", 3), ("stopped", 4)]
    assert seen[-1][1] == ended


async def test_a_run_that_is_unknown_cannot_be_followed(log: ThoughtStore) -> None:
    run = await keep(log, "x")
    for view, run_id in ((log, "run_0"), (log.scoped("guest"), run.run_id)):
        with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
            async for _ in view.follow(run_id):
                pass


Damage = Callable[[ThoughtStore, str], Awaitable[None]]


@pytest.fixture
def damage(kind: Log) -> Damage:
    """Spoils the second entry of a run."""
    if kind.damage is None:
        pytest.skip("there is nothing to get at but through the log")
    return kind.damage


async def test_a_damaged_entry_is_told_harms_no_other_run_and_can_be_deleted(
    log: ThoughtStore, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = await keep(log, "The zebra, a zebra, zebras.")
    healthy = await keep(log, "The zebra sleeps.")
    await damage(log, damaged.run_id)

    with pytest.raises(StorageError, match=repr(damaged.run_id)) as caught:
        await log.load(damaged.run_id)
    assert "\n" not in str(caught.value)
    with pytest.raises(StorageError, match=repr(damaged.run_id)), anyio.fail_after(30):
        async for _ in log.follow(damaged.run_id):
            pass
    assert await log.load(healthy.run_id) == healthy
    with caplog.at_level(logging.WARNING, logger="sifaka"):
        assert healthy.summary() in (await log.recent(limit=5)).runs

    await log.delete(damaged.run_id)
    with pytest.raises(ThoughtNotFound):
        await log.load(damaged.run_id)
    assert await listed(log) == [healthy.run_id]


SECONDS = 3.0


@pytest.fixture
async def expiring(kind: Log) -> AsyncGenerator[ThoughtStore]:
    """A log that forgets runs some seconds after their last entry."""
    if kind.make_expiring is None:
        pytest.skip("stores of this kind keep runs until they are deleted")
    log = kind.make_expiring(SECONDS)
    yield log
    await log.aclose()


@pytest.mark.slow
@pytest.mark.long
async def test_every_entry_gives_a_run_its_time_again_and_without_it_is_gone(
    expiring: ThoughtStore,
) -> None:
    run = await keep(expiring, "The zebra sleeps.")
    claimed = await keep(expiring, "The zebra drinks.")
    await expiring.claim(claimed.run_id)
    other = await keep(expiring, "The zebra eats.")
    late = drafted(other, "late")
    appended = 0

    # Until those that get no entries are gone, the other gets them.
    with anyio.fail_after(60):
        while other.run_id in await listed(expiring):
            run, appended = await draft(expiring, run, "It runs."), appended + 1
            await anyio.sleep(SECONDS / 10)

    assert appended > 1
    assert await expiring.load(run.run_id) == run
    assert await listed(expiring) == [run.run_id]
    for call in (expiring.load, expiring.claim):
        with pytest.raises(ThoughtNotFound):
            await call(other.run_id)
    with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
        async for _ in expiring.follow(other.run_id):
            pass
    with pytest.raises(VersionConflict) as caught:
        await append(expiring, other, late)
    assert caught.value.found == 0
    with pytest.raises(ThoughtNotFound):
        await expiring.load(other.run_id)

    started = Started(run_id=claimed.run_id)  # an id may begin anew
    again = Run.start(started)
    await expiring.append(again, [started], expected_version=0, fence=0)
    assert await expiring.load(again.run_id) == again


def test_a_store_outlives_the_event_loop_that_used_it_first(
    make_log: Callable[[], ThoughtStore],
) -> None:
    log = make_log()

    async def write() -> Run:
        return await keep(log, "written in one loop")

    async def read(run: Run) -> Run:
        loaded = await log.load(run.run_id)
        await keep(log, "and another")
        assert len((await log.recent(limit=3)).runs) == 2
        await log.aclose()
        return loaded

    run = anyio.run(write)
    assert anyio.run(read, run) == run


def test_a_closed_view_leaves_the_store_open_and_closing_twice_is_harmless(
    make_log: Callable[[], ThoughtStore],
) -> None:
    async def close_view_first() -> None:
        log = make_log()
        view = log.scoped("guest")
        await keep(view, "x")
        await view.aclose()
        run = await keep(log, "still open")
        assert await log.load(run.run_id) == run
        for closed in (log, log, unused := make_log(), unused):
            await closed.aclose()

    anyio.run(close_view_first)
