"""Memory, a log and an index in tiers, and runs that go through them."""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import search_runs
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ANY, Filters, Health, Hits, ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.stores import Switch, UnreachableStore


class RemoteStore(UnreachableStore):
    """The authority."""


class SearchIndexInMemory:
    """An index that can be switched off, and notes how many versions were put."""

    place = "search"

    def __init__(self) -> None:
        self.switch = Switch()
        self.tenant = "default"
        self.runs: dict[tuple[str, str], Run] = {}

    async def put(self, run: Run, *, first: int = 0) -> None:
        if run.run_id == self.switch.poison:
            raise StorageError("too large", "split it")
        self._ask()
        self.switch.appended += len(run.thoughts) - first
        held = self.runs.get((self.tenant, run.run_id), run)
        # What another process has put of later versions stays.
        older = run.version < held.version and run.thoughts == held.thoughts[: len(run.thoughts)]
        self.runs[self.tenant, run.run_id] = held if older else run

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        self._ask()
        own = [run for (tenant, _), run in self.runs.items() if tenant == self.tenant]
        return search_runs(own, query, limit=limit, only=only)

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        self._ask()
        run = self.runs.get((self.tenant, run_id))
        return run.thoughts if run else ()

    async def load(self, run_id: str) -> Run:
        """What was put of a run, whether the index can be reached or not."""
        if (self.tenant, run_id) not in self.runs:
            raise ThoughtNotFound(run_id)
        return self.runs[self.tenant, run_id]

    async def drop(self, run_id: str) -> None:
        self._ask()
        self.runs.pop((self.tenant, run_id), None)

    async def catch_up(self) -> int:
        self._ask()
        return 0

    async def health(self) -> tuple[Health, ...]:
        return (Health(part="search", works=not self.switch.down, found="in memory"),)

    def scoped(self, tenant: str) -> Self:
        view = copy.copy(self)
        view.tenant = tenant
        return view

    async def aclose(self) -> None:
        """It holds nothing open."""

    def _ask(self) -> None:
        if self.switch.down:
            raise StorageError("search: not reachable", "start it", retryable=True)


@dataclass
class Setup:
    """Memory in front of a log and its index, each of which can be switched off."""

    folder: Path
    authority: Switch = field(default_factory=Switch)
    index: SearchIndexInMemory = field(default_factory=SearchIndexInMemory)

    @property
    def copy(self) -> Switch:
        return self.index.switch

    @property
    def queue(self) -> Path:
        return self.folder / "queue.db"

    def store(self, *, queue: Path | None = None, retry_after: float = 0.0) -> CachedStorage:
        """The tiers as one process has them open."""
        return CachedStorage(
            MemoryStorage(),
            RemoteStore(SQLiteStorage(self.folder / "runs.db"), self.authority),
            self.index,
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
