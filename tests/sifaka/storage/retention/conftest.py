from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from sifaka.record.entries import Drafted, Entry, Started, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

NOW = datetime(2026, 6, 1, tzinfo=UTC)
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def keep() -> Keep:
    """Stores a run of some age, finished unless told otherwise."""

    async def keep(
        store: ThoughtStore, run_id: str, *, days: float, text: str = "x", finished: bool = True
    ) -> Run:
        at = NOW - timedelta(days=days)
        entries: list[Entry] = [
            Started(run_id=run_id, at=at),
            Drafted(thought=Thought(run_id=run_id, text=text), at=at),
        ]
        if finished:
            entries.append(Stopped(status="done", stop_reason="passed", at=at))
        run = Run.replay(entries)
        await store.append(run, entries, expected_version=0)
        return run

    return keep
