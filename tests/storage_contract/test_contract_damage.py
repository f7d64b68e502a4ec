import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
Damage = Callable[[ThoughtStore, str], Awaitable[None]]


@pytest.fixture
def damage(kind: Any) -> Damage:
    """Spoils the second entry of a run."""
    if not hasattr(kind, "damage"):
        pytest.skip("there is nothing to get at but through the store")
    return kind.damage


async def test_a_damaged_entry_is_told_and_harms_no_other_run(
    store: ThoughtStore,
    keep: Keep,
    damage: Damage,
    caplog: pytest.LogCaptureFixture,
) -> None:
    damaged = await keep(store, "The zebra, a zebra, zebras.")
    healthy = await keep(store, "The zebra sleeps.")
    await damage(store, damaged.run_id)

    with pytest.raises(StorageError, match=repr(damaged.run_id)) as caught:
        await store.load(damaged.run_id)
    assert "\n" not in str(caught.value)
    with pytest.raises(StorageError, match=repr(damaged.run_id)), anyio.fail_after(30):
        async for _ in store.follow(damaged.run_id):
            pass
    assert await store.load(healthy.run_id) == healthy
    with caplog.at_level(logging.WARNING, logger="sifaka"):
        assert healthy.summary() in (await store.recent(limit=5)).runs
        hits = (await store.search("zebra", limit=5)).hits
    assert healthy.run_id in {hit.run_id for hit in hits}


async def test_a_damaged_run_can_be_deleted(
    store: ThoughtStore, keep: Keep, damage: Damage
) -> None:
    damaged = await keep(store, "The zebra eats.")
    healthy = await keep(store, "The zebra sleeps.")
    await damage(store, damaged.run_id)

    await store.delete(damaged.run_id)

    with pytest.raises(ThoughtNotFound):
        await store.load(damaged.run_id)
    assert [line.run_id for line in (await store.recent(limit=5)).runs] == [healthy.run_id]
    hits = (await store.search("zebra", limit=5)).hits
    assert [hit.run_id for hit in hits] == [healthy.run_id]
