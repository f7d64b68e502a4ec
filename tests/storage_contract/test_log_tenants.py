from collections.abc import Awaitable, Callable

import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_foreign_run_is_as_unknown_as_none(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log.scoped("ann"), "a secret plan")
    bob = log.scoped("bob")

    with pytest.raises(ThoughtNotFound) as foreign:
        await bob.load(run.run_id)
    with pytest.raises(ThoughtNotFound) as unknown:
        await bob.load("run_nobody")

    assert str(foreign.value).replace(run.run_id, "?") == (
        str(unknown.value).replace("run_nobody", "?")
    )


async def test_lists_show_the_tenants_own_runs(log: ThoughtStore, keep: Keep) -> None:
    ann, bob = log.scoped("ann"), log.scoped("bob")
    anns = await keep(ann, "a secret plan")
    bobs = await keep(bob, "a secret garden")

    assert [line.run_id for line in (await ann.recent(limit=9)).runs] == [anns.run_id]
    assert [line.run_id for line in (await bob.recent(limit=9)).runs] == [bobs.run_id]
    assert (await log.recent(limit=9)).runs == ()


async def test_tenants_may_use_the_same_run_id(log: ThoughtStore) -> None:
    for tenant in ("ann", "bob"):
        started = Started(run_id="same", prompt=tenant)
        await log.scoped(tenant).append(Run.start(started), [started], expected_version=0)

    assert (await log.scoped("ann").load("same")).prompt == "ann"
    assert (await log.scoped("bob").load("same")).prompt == "bob"


async def test_a_scope_replaces_the_one_before(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log.scoped("ann"), "x")

    assert await log.scoped("bob").scoped("ann").load(run.run_id) == run


async def test_another_tenants_cursor_shows_nothing_of_theirs(
    log: ThoughtStore, keep: Keep
) -> None:
    ann, bob = log.scoped("ann"), log.scoped("bob")
    mine = await keep(bob, "x")
    for _ in range(2):
        await keep(ann, "x")
    cursor = (await ann.recent(limit=1)).next_cursor

    page = await bob.recent(limit=9, cursor=cursor)

    assert [line.run_id for line in page.runs] == [mine.run_id]
