import base64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.entries import Decided, Decision, Drafted, Started, Stopped, Validated
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def listed(log: ThoughtStore, limit: int) -> list[str]:
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await log.recent(limit=limit, cursor=cursor)
        assert len(page.runs) <= limit
        ids += [line.run_id for line in page.runs]
        cursor = page.next_cursor
        if cursor is None:
            return ids


async def touch(log: ThoughtStore, run: Run) -> Run:
    entry = Stopped(status="cancelled", stop_reason="cancelled")
    after = run.apply(entry)
    await log.append(after, [entry], expected_version=run.version)
    return after


async def test_an_empty_store_lists_nothing(log: ThoughtStore) -> None:
    page = await log.recent(limit=10)
    assert (page.runs, page.next_cursor) == ((), None)


@pytest.mark.parametrize("limit", [1, 7, 24, 25, 26])
async def test_pages_show_25_runs_newest_first_without_loss_or_repeat(
    log: ThoughtStore, keep: Keep, limit: int
) -> None:
    runs = [await keep(log, f"text {n}") for n in range(25)]

    assert await listed(log, limit) == [run.run_id for run in reversed(runs)]


async def test_runs_of_the_same_moment_are_all_listed(log: ThoughtStore) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [f"run_{n}" for n in range(9)]
    for run_id in ids:
        started = Started(run_id=run_id, at=moment)
        await log.append(Run.start(started), [started], expected_version=0)

    assert sorted(await listed(log, 2)) == ids


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

    assert await listed(log, 3) == list(reversed(moments))
    lines = (await log.recent(limit=9)).runs
    assert [line.created_at for line in reversed(lines)] == list(moments.values())


async def test_a_run_updated_between_two_pages_moves_to_the_front(
    log: ThoughtStore, keep: Keep
) -> None:
    runs = [await keep(log, f"text {n}") for n in range(25)]
    newest_first = [run.run_id for run in reversed(runs)]
    first = await log.recent(limit=10)

    shown_already = await touch(log, runs[20])
    not_shown_yet = await touch(log, runs[3])
    rest = await log.recent(limit=25, cursor=first.next_cursor)

    # Nothing repeats; runs that were not touched are there once; those that moved are in front.
    assert [line.run_id for line in rest.runs] == [
        run_id for run_id in newest_first[10:] if run_id != not_shown_yet.run_id
    ]
    front = await log.recent(limit=2)
    assert [line.run_id for line in front.runs] == [not_shown_yet.run_id, shown_already.run_id]


async def test_a_line_is_the_runs_own_summary(log: ThoughtStore) -> None:
    started = Started(prompt="Shorten this.")
    run = Run.start(started)
    await log.append(run, [started], expected_version=0)
    assert (await log.recent(limit=1)).runs == (run.summary(),)

    thought = Thought(run_id=run.run_id, text="The  shorter\ntext. " + "x" * 500)
    for entry in (
        Drafted(thought=thought),
        Validated(thought_id=thought.id, results={"length": ValidationResult(passed=True)}),
        Decided(thought_id=thought.id, decision=Decision(accepted=True, by="person")),
        Stopped(status="done", stop_reason="passed"),
    ):
        after = run.apply(entry)
        await log.append(after, [entry], expected_version=run.version)
        run = after
        (line,) = (await log.recent(limit=1)).runs
        assert line == run.summary()
    assert line.passed
    assert line.updated_at - line.created_at < timedelta(minutes=1)


async def test_a_cursor_that_is_none_is_refused_in_one_line(log: ThoughtStore, keep: Keep) -> None:
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


async def test_a_cursor_that_was_changed_shows_no_run_twice_and_none_of_others(
    log: ThoughtStore, keep: Keep
) -> None:
    own = {(await keep(log, "x")).run_id for _ in range(3)}
    await keep(log.scoped("another"), "x")
    cursor = (await log.recent(limit=1)).next_cursor
    assert cursor

    for n in range(len(cursor)):
        changed = cursor[:n] + ("A" if cursor[n] != "A" else "B") + cursor[n + 1 :]
        try:
            page = await log.recent(limit=9, cursor=changed)
        except ConfigurationError:
            continue
        shown = [line.run_id for line in page.runs]
        assert len(set(shown)) == len(shown)
        assert set(shown) <= own
