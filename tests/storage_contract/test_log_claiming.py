from collections.abc import Awaitable, Callable

import pytest

from sifaka.errors import Fenced, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


def next_draft(run: Run, text: str) -> tuple[Drafted, Run]:
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text))
    return entry, run.apply(entry)


async def test_each_claim_has_a_higher_number(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    other = await keep(log, "y")

    assert [await log.claim(run.run_id) for _ in range(3)] == [1, 2, 3]
    assert await log.claim(other.run_id) == 1
    assert await log.load(run.run_id) == run


async def test_who_was_replaced_is_refused_and_changes_nothing(
    log: ThoughtStore, keep: Keep
) -> None:
    run = await keep(log, "x")
    old = await log.claim(run.run_id)
    new = await log.claim(run.run_id)
    entry, after = next_draft(run, "late")

    with pytest.raises(Fenced) as caught:
        await log.append(after, [entry], expected_version=run.version, fence=old)
    with pytest.raises(Fenced):
        await log.append(after, [entry], expected_version=run.version, fence=0)

    with pytest.raises(Fenced):  # one that asks before it does something costly
        await log.append(run, [], expected_version=run.version, fence=old)
    await log.append(run, [], expected_version=run.version, fence=new)

    assert (caught.value.run_id, caught.value.fence, caught.value.current) == (run.run_id, old, new)
    assert await log.load(run.run_id) == run
    await log.append(after, [entry], expected_version=run.version, fence=new)
    assert await log.load(run.run_id) == after


async def test_who_created_a_run_goes_on_until_it_is_claimed(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    entry, after = next_draft(run, "y")
    await log.append(after, [entry], expected_version=run.version, fence=0)
    await log.claim(run.run_id)
    entry, late = next_draft(after, "z")

    with pytest.raises(Fenced):
        await log.append(late, [entry], expected_version=after.version, fence=0)


async def test_an_append_without_a_fence_asks_for_no_claim(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    fence = await log.claim(run.run_id)
    entry = Stopped(status="cancelled", stop_reason="cancelled")
    cancelled = run.apply(entry)

    await log.append(cancelled, [entry], expected_version=run.version)

    draft, after = next_draft(run, "y")
    with pytest.raises(VersionConflict):
        await log.append(after, [draft], expected_version=run.version, fence=fence)
    assert await log.load(run.run_id) == cancelled


async def test_a_repeat_of_what_is_stored_is_done_already_after_any_claim(
    log: ThoughtStore, keep: Keep
) -> None:
    run = await keep(log, "x")
    fence = await log.claim(run.run_id)
    entry, after = next_draft(run, "y")
    await log.append(after, [entry], expected_version=run.version, fence=fence)
    await log.claim(run.run_id)

    await log.append(after, [entry], expected_version=run.version, fence=fence)

    assert await log.load(run.run_id) == after


async def test_a_run_that_is_unknown_cannot_be_claimed(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    for view, run_id in ((log, "run_0"), (log, "\ud800"), (log.scoped("guest"), run.run_id)):
        with pytest.raises(ThoughtNotFound):
            await view.claim(run_id)
