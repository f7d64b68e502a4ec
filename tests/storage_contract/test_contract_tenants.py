from collections.abc import Awaitable, Callable

import pytest

from sifaka.errors import ConfigurationError, ThoughtNotFound
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_foreign_run_is_as_unknown_as_none(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store.scoped("ann"), "a secret plan")
    bob = store.scoped("bob")

    with pytest.raises(ThoughtNotFound) as foreign:
        await bob.load(run.run_id)
    with pytest.raises(ThoughtNotFound) as unknown:
        await bob.load("run_nobody")

    assert str(foreign.value).replace(run.run_id, "?") == (
        str(unknown.value).replace("run_nobody", "?")
    )


async def test_lists_and_searches_show_the_tenants_own_runs(
    store: ThoughtStore, keep: Keep
) -> None:
    ann, bob = store.scoped("ann"), store.scoped("bob")
    anns = await keep(ann, "a secret plan")
    bobs = await keep(bob, "a secret garden")

    assert [line.run_id for line in (await ann.recent(limit=9)).runs] == [anns.run_id]
    assert [line.run_id for line in (await bob.recent(limit=9)).runs] == [bobs.run_id]
    assert [hit.run_id for hit in (await ann.search("secret", limit=9)).hits] == [anns.run_id]
    assert (await bob.search("plan", limit=9)).hits == ()
    assert (await store.recent(limit=9)).runs == ()


async def test_tenants_may_use_the_same_run_id(store: ThoughtStore) -> None:
    for tenant in ("ann", "bob"):
        started = Started(run_id="same", prompt=tenant)
        await store.scoped(tenant).append(Run.start(started), [started], expected_version=0)

    assert (await store.scoped("ann").load("same")).prompt == "ann"
    assert (await store.scoped("bob").load("same")).prompt == "bob"


async def test_a_scope_replaces_the_one_before(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store.scoped("ann"), "x")

    assert await store.scoped("bob").scoped("ann").load(run.run_id) == run


async def test_another_tenants_cursor_is_refused(store: ThoughtStore, keep: Keep) -> None:
    ann = store.scoped("ann")
    for _ in range(2):
        await keep(ann, "x")
    cursor = (await ann.recent(limit=1)).next_cursor

    with pytest.raises(ConfigurationError):
        await store.scoped("bob").recent(limit=1, cursor=cursor)
