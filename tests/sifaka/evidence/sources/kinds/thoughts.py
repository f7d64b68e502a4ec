"""Past texts in a store."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sifaka.errors import StorageError
from sifaka.evidence.sources.catalogue import open_adapters
from sifaka.record.entries import ChainConfig, Decided, Decision, Drafted, Entry, Started, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ANY, Filters, Hits, ThoughtStore
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Source
from tests.stubs.stores import PassingStore


class Failing(PassingStore):
    """A store that can be told to fail."""

    fails = False

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        if self.fails:
            raise StorageError("the disk is gone", "find it", retryable=True)
        return await super().search(query, limit=limit, only=only)


async def keep(store: ThoughtStore) -> Sequence[str]:
    """The documents as the texts of finished runs; the ids of their versions."""
    ids: list[str] = []
    for document in DOCUMENTS:
        assert document.published is not None
        started = Started(prompt=document.title, config=ChainConfig())
        run = Run.start(started)
        thought = Thought(
            run_id=run.run_id,
            prompt=document.title,
            text=document.text,
            created_at=document.published,
        )
        entries: list[Entry] = [
            started,
            Drafted(thought=thought),
            Decided(thought_id=thought.id, decision=Decision(accepted=True, note="kept")),
            Stopped(status="done", stop_reason="passed"),
        ]
        await store.append(Run.replay(entries), entries, expected_version=0)
        ids.append(thought.id)
    return ids


@asynccontextmanager
async def source(folder: Path) -> AsyncGenerator[Source]:
    del folder
    store = Failing(MemoryStorage())
    ids = await keep(store)
    (adapter,) = open_adapters(["tested=thoughts:"], store=store).chosen()

    async def break_down() -> None:
        store.fails = True

    yield Source(adapter=adapter, ids=ids, has_links=False, break_down=break_down)
