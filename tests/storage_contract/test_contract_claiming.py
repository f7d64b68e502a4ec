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


async def test_each_claim_has_a_higher_number(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "x")
    other = await keep(store, "y")

    assert [await store.claim(run.run_id) for _ in range(3)] == [1, 2, 3]
    assert await store.claim(other.run_id) == 1
    assert await store.load(run.run_id) == run


async def test_who_was_replaced_is_refused_and_changes_nothing(
    store: ThoughtStore, keep: Keep
) -> None:
    run = await keep(store, "x")
    old = await store.claim(run.run_id)
    new = await store.claim(run.run_id)
    entry, after = next_draft(run, "late")

    with pytest.raises(Fenced) as caught:
        await store.append(after, [entry], expected_version=run.version, fence=old)
    with pytest.raises(Fenced):
        await store.append(after, [entry], expected_version=run.version, fence=0)

    assert (caught.value.run_id, caught.value.fence, caught.value.current) == (run.run_id, old, new)
    assert await store.load(run.run_id) == run
    await store.append(after, [entry], expected_version=run.version, fence=new)
    assert await store.load(run.run_id) == after


async def test_who_created_a_run_goes_on_until_somebody_claims_it(
    store: ThoughtStore, keep: Keep
) -> None:
    run = await keep(store, "x")
    entry, after = next_draft(run, "y")
    await store.append(after, [entry], expected_version=run.version, fence=0)
    await store.claim(run.run_id)
    entry, late = next_draft(after, "z")

    with pytest.raises(Fenced):
        await store.append(late, [entry], expected_version=after.version, fence=0)


async def test_what_anybody_may_append_asks_for_no_claim(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "x")
    fence = await store.claim(run.run_id)
    entry = Stopped(status="cancelled", stop_reason="cancelled")
    cancelled = run.apply(entry)

    await store.append(cancelled, [entry], expected_version=run.version)

    draft, after = next_draft(run, "y")
    with pytest.raises(VersionConflict):
        await store.append(after, [draft], expected_version=run.version, fence=fence)
    assert await store.load(run.run_id) == cancelled


async def test_a_repeat_of_what_is_stored_is_done_already_whoever_came_since(
    store: ThoughtStore, keep: Keep
) -> None:
    run = await keep(store, "x")
    fence = await store.claim(run.run_id)
    entry, after = next_draft(run, "y")
    await store.append(after, [entry], expected_version=run.version, fence=fence)
    await store.claim(run.run_id)

    await store.append(after, [entry], expected_version=run.version, fence=fence)

    assert await store.load(run.run_id) == after


async def test_a_run_that_is_unknown_cannot_be_claimed(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "x")
    for view, run_id in ((store, "run_0"), (store, "\ud800"), (store.scoped("guest"), run.run_id)):
        with pytest.raises(ThoughtNotFound):
            await view.claim(run_id)
