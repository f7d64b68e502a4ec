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
        pytest.skip("there is nothing to get at but through the log")
    return kind.damage


async def test_a_damaged_entry_is_told_and_harms_no_other_run(
    log: ThoughtStore,
    keep: Keep,
    damage: Damage,
    caplog: pytest.LogCaptureFixture,
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


async def test_a_damaged_run_can_be_deleted(log: ThoughtStore, keep: Keep, damage: Damage) -> None:
    damaged = await keep(log, "The zebra eats.")
    healthy = await keep(log, "The zebra sleeps.")
    await damage(log, damaged.run_id)

    await log.delete(damaged.run_id)

    with pytest.raises(ThoughtNotFound):
        await log.load(damaged.run_id)
    assert [line.run_id for line in (await log.recent(limit=5)).runs] == [healthy.run_id]
