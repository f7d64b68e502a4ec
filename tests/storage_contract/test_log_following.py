from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio
import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Drafted, Entry, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_follower_sees_every_entry_as_it_comes_and_leaves_at_the_end(
    log: ThoughtStore, keep: Keep
) -> None:
    run = await keep(log, "x")
    draft = Drafted(thought=Thought(run_id=run.run_id, iteration=1, text="ü 👩‍👩‍👧"))
    after = run.apply(draft)
    stop = Stopped(status="done", stop_reason="passed")
    ended = after.apply(stop)
    seen: list[tuple[Entry, Run]] = []
    arrived = anyio.Event()

    async def follow() -> None:
        async with aclosing(log.follow(run.run_id)) as steps:
            async for step in steps:
                seen.append(step)
                if len(seen) == run.version:
                    arrived.set()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(follow)
            await arrived.wait()
            await log.append(after, [draft], expected_version=run.version)
            await log.append(ended, [stop], expected_version=after.version)

    assert [entry.kind for entry, _ in seen] == ["started", "drafted", "drafted", "stopped"]
    assert [at.version for _, at in seen] == [1, 2, 3, 4]
    assert seen[-1] == (stop, ended)


async def test_a_follower_may_begin_in_the_middle(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "one", "two")
    stop = Stopped(status="cancelled", stop_reason="cancelled")
    ended = run.apply(stop)
    await log.append(ended, [stop], expected_version=run.version)

    with anyio.fail_after(30):
        seen = [step async for step in log.follow(run.run_id, after=2)]

    assert [(entry.kind, at.version) for entry, at in seen] == [("drafted", 3), ("stopped", 4)]
    assert seen[-1][1] == ended


async def test_a_run_that_is_unknown_cannot_be_followed(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    for view, run_id in ((log, "run_0"), (log.scoped("guest"), run.run_id)):
        with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
            async for _ in view.follow(run_id):
                pass
