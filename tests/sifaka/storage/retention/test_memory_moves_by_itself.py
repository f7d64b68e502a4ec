"""Runs go from Redis to files, searched in Milvus, and are forgotten, as the clock goes on."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from sifaka.storage import CachedStorage, FileStorage, HybridMemory, RedisStorage
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.retention import Policy
from tests.stubs.redis_server import shared_redis
from tests.stubs.runs import aged, found, listed

pytestmark = pytest.mark.anyio


class Clock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[HybridMemory]:
    episodes = CachedStorage(
        FileStorage(tmp_path / "episodes"), MilvusIndex(f"milvus:///{tmp_path}/vectors.db")
    )
    memory = HybridMemory(
        short_term=RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}"),
        episodic=episodes,
        short_term_keeps=Policy(max_age=timedelta(days=7), max_runs=3),
        episodic_keeps=Policy(max_age=timedelta(days=30)),
        clock=Clock(),
    )
    yield memory
    await memory.aclose()


async def after(memory: HybridMemory, **passed: float) -> tuple[list[str], list[str]]:
    clock = memory.clock
    assert isinstance(clock, Clock)
    clock.now += timedelta(**passed)
    await memory.catch_up()
    return await listed(memory.short_term), await listed(memory.episodic)


async def test_runs_move_by_age_and_number_and_are_forgotten_in_time(memory: HybridMemory) -> None:
    now = memory.clock()
    for number in range(4):
        await aged(memory, f"run_{number}", days=number, text=f"heron {number}", now=now)
    await aged(memory, "waiting", days=3, finished=False, now=now)
    assert await after(memory) == (["run_0", "run_1", "run_2", "waiting"], ["run_3"])
    assert set(await found(memory, "heron")) == {f"run_{number}" for number in range(4)}
    assert await after(memory, days=6) == (["run_0", "run_1", "waiting"], ["run_2", "run_3"])
    moved, gone = ["waiting"], ["run_0", "run_1", "run_2"]
    assert await after(memory, days=21.5) == (moved, gone)
    assert await after(memory, days=30) == (moved, [])
    assert await found(memory, "heron") == []


async def test_within_a_minute_nothing_is_looked_through_again(memory: HybridMemory) -> None:
    await memory.catch_up()
    await aged(memory, "old", days=9, now=memory.clock())
    assert await after(memory, seconds=59) == (["old"], [])
    assert await after(memory, seconds=2) == ([], ["old"])


async def test_the_runs_of_a_tenant_move_once_it_was_seen(memory: HybridMemory) -> None:
    theirs: ThoughtStore = memory.scoped("ann")
    await aged(theirs, "old", days=9, now=memory.clock())
    await memory.catch_up()
    assert await listed(memory.episodic.scoped("ann")) == ["old"]
    assert await listed(replace(memory).scoped("bob")) == []
