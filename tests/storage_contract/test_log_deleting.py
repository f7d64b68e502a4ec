from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_run_that_is_deleted_is_nowhere_any_more(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "The zebra sleeps.", "The zebra wakes.", prompt="stripes")
    kept = await keep(log, "The zebra eats.")

    await log.delete(run.run_id)

    for _ in range(2):
        with pytest.raises(ThoughtNotFound):
            await log.load(run.run_id)
        assert [line.run_id for line in (await log.recent(limit=5)).runs] == [kept.run_id]
        await log.delete(run.run_id)  # a second time, and one that never was
        await log.delete("run_0")


async def test_a_run_of_the_same_id_begins_anew(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    await log.claim(run.run_id)
    entries = await _entries(log, run)
    await log.delete(run.run_id)

    await log.append(run, entries, expected_version=0, fence=0)

    assert await log.load(run.run_id) == run


async def test_another_tenant_deletes_nothing_of_ours(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")

    await log.scoped("guest").delete(run.run_id)

    assert await log.load(run.run_id) == run


async def _entries(log: ThoughtStore, run: Run) -> list[Entry]:
    found: list[Entry] = []
    async with aclosing(log.follow(run.run_id)) as steps:
        async for entry, after in steps:
            found.append(entry)
            if after.version == run.version:
                break
    return found
