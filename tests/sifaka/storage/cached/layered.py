"""Memory, a store and its copy in tiers, and runs that go through them."""

from dataclasses import dataclass, field
from pathlib import Path

from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.stores import Switch, UnreachableStore


class RemoteStore(UnreachableStore):
    """The authority."""


class SearchStore(UnreachableStore):
    """Its copy."""


@dataclass
class Setup:
    """Memory in front of a store and its copy, each of which can be switched off."""

    folder: Path
    authority: Switch = field(default_factory=Switch)
    copy: Switch = field(default_factory=Switch)

    @property
    def queue(self) -> Path:
        return self.folder / "queue.db"

    def store(self, *, queue: Path | None = None, retry_after: float = 0.0) -> CachedStorage:
        """The tiers as one process has them open."""
        return CachedStorage.of(
            [
                MemoryStorage(),
                RemoteStore(SQLiteStorage(self.folder / "runs.db"), self.authority),
                SearchStore(SQLiteStorage(self.folder / "copy.db"), self.copy),
            ],
            queue=queue or self.queue,
            retry_after=retry_after,
        )


async def begin(store: ThoughtStore, prompt: str = "Say it shorter.") -> Run:
    started = Started(prompt=prompt)
    run = Run.start(started)
    await store.append(run, [started], expected_version=0, fence=0)
    return run


async def draft(store: ThoughtStore, run: Run, text: str, fence: int | None = 0) -> Run:
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text))
    after = run.apply(entry)
    await store.append(after, [entry], expected_version=run.version, fence=fence)
    return after


async def catch_up(store: ThoughtStore) -> None:
    while await store.catch_up():
        pass


def texts(run: Run) -> list[str]:
    return [thought.text for thought in run.thoughts]


def names(folder: Path) -> list[str]:
    """The files in a folder."""
    return sorted(path.name for path in folder.iterdir())
