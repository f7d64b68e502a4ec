from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.milvus import MilvusIndex


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of a Milvus Lite folder that is not there yet."""
    return f"milvus:///{tmp_path}/runs.db"


@pytest.fixture
def keep() -> Callable[..., Awaitable[Run]]:
    """Puts a run of one text."""

    async def keep(index: MilvusIndex, text: str) -> Run:
        started = Started(prompt="Say it.")
        begun = Run.start(started)
        entries: list[Entry] = [
            started,
            Drafted(thought=Thought(run_id=begun.run_id, text=text)),
        ]
        run = Run.replay(entries)
        await index.put(run)
        return run

    return keep
