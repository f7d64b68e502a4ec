from collections.abc import Awaitable, Callable

import pytest

from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

Begin = Callable[..., Awaitable[Run]]
Draft = Callable[..., Awaitable[Run]]


@pytest.fixture
def begin() -> Begin:
    """Stores a run of one entry."""

    async def begin(store: ThoughtStore, run_id: str = "run_1") -> Run:
        started = Started(run_id=run_id, prompt="Say it.")
        run = Run.start(started)
        await store.append(run, [started], expected_version=0)
        return run

    return begin


@pytest.fixture
def draft() -> Draft:
    """Appends versions to a run, all at once."""

    async def draft(store: ThoughtStore, run: Run, *texts: str, fence: int | None = None) -> Run:
        entries: list[Drafted] = []
        after = run
        for text in texts:
            thought = Thought(run_id=run.run_id, iteration=len(after.thoughts), text=text)
            entries.append(Drafted(thought=thought))
            after = after.apply(entries[-1])
        await store.append(after, entries, expected_version=run.version, fence=fence)
        return after

    return draft
