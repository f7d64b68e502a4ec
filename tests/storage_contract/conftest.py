"""The stores that the contract holds for: one line each."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from sifaka.entries import Drafted, Entry, Started
from sifaka.run import Run
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.thought import Thought

STORES: Mapping[str, Callable[[Path], ThoughtStore]] = {
    "memory": lambda folder: MemoryStorage(),
    "sqlite": lambda folder: SQLiteStorage(folder / "runs.db"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=STORES)
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ThoughtStore]:
    """Makes stores of one kind, each empty."""
    count = iter(range(100))

    def make() -> ThoughtStore:
        return STORES[request.param](tmp_path / f"store{next(count)}")

    return make


@pytest.fixture
async def store(make_store: Callable[[], ThoughtStore]) -> AsyncGenerator[ThoughtStore]:
    store = make_store()
    yield store
    await store.aclose()


@pytest.fixture
def keep() -> Callable[..., Awaitable[Run]]:
    """Stores a run of some texts, in one append."""

    async def keep(store: ThoughtStore, *texts: str, prompt: str = "") -> Run:
        started = Started(prompt=prompt)
        run = Run.start(started)
        entries: list[Entry] = [started]
        for text in texts:
            parent = run.latest
            thought = (
                parent.next_iteration().with_text(text)
                if parent
                else Thought(run_id=run.run_id, prompt=prompt, text=text)
            )
            entries.append(Drafted(thought=thought))
            run = run.apply(entries[-1])
        await store.append(run, entries, expected_version=0)
        return run

    return keep
