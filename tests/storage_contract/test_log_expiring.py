from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka.errors import ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

pytestmark = [pytest.mark.anyio, pytest.mark.long]
Keep = Callable[..., Awaitable[Run]]
SECONDS = 3.0


@pytest.fixture
async def expiring(kind: Any, tmp_path: Path) -> AsyncGenerator[ThoughtStore]:
    """A log that forgets runs some seconds after their last entry."""
    if not hasattr(kind, "make_expiring"):
        pytest.skip("stores of this kind keep runs until they are deleted")
    log: ThoughtStore = kind.make_expiring(tmp_path / "log", SECONDS)
    yield log
    await log.aclose()


async def until_gone(log: ThoughtStore, run: Run) -> None:
    with anyio.fail_after(60):
        while True:
            try:
                await log.load(run.run_id)
            except ThoughtNotFound:
                return
            await anyio.sleep(0.05)


async def test_a_run_that_has_expired_is_nowhere_any_more(
    expiring: ThoughtStore, keep: Keep
) -> None:
    run = await keep(expiring, "The zebra sleeps.")
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=1, text="late"))
    after = run.apply(entry)

    await until_gone(expiring, run)

    assert (await expiring.recent(limit=5)).runs == ()
    with pytest.raises(ThoughtNotFound):
        await expiring.claim(run.run_id)
    with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
        async for _ in expiring.follow(run.run_id):
            pass
    with pytest.raises(VersionConflict) as caught:
        await expiring.append(after, [entry], expected_version=run.version)
    assert caught.value.found == 0
    with pytest.raises(ThoughtNotFound):
        await expiring.load(run.run_id)


async def test_every_entry_gives_a_run_its_time_again(expiring: ThoughtStore, keep: Keep) -> None:
    run = await keep(expiring, "The zebra sleeps.")
    other = await keep(expiring, "The zebra eats.")
    appended = 0

    # Until one that gets no entries is gone, the other gets them.
    with anyio.fail_after(60):
        while True:
            thought = Thought(run_id=run.run_id, iteration=len(run.thoughts), text="It runs.")
            entry = Drafted(thought=thought)
            after = run.apply(entry)
            await expiring.append(after, [entry], expected_version=run.version)
            run, appended = after, appended + 1
            try:
                await expiring.load(other.run_id)
            except ThoughtNotFound:
                break
            await anyio.sleep(SECONDS / 10)

    assert appended > 1
    assert await expiring.load(run.run_id) == run
    assert [line.run_id for line in (await expiring.recent(limit=5)).runs] == [run.run_id]


async def test_an_id_may_begin_anew_once_its_run_has_expired(
    expiring: ThoughtStore, keep: Keep
) -> None:
    run = await keep(expiring, "The zebra sleeps.")
    await expiring.claim(run.run_id)
    await until_gone(expiring, run)

    started = Started(run_id=run.run_id)
    again = Run.start(started)
    await expiring.append(again, [started], expected_version=0, fence=0)

    assert await expiring.load(run.run_id) == again
