"""Adapters that ask no server: documents at hand, a folder of files, past texts, a retriever."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread

from sifaka.errors import StorageError
from sifaka.evidence.sources.catalogue import open_adapters
from sifaka.evidence.sources.in_process import InProcessAdapter, RetrieverAdapter
from sifaka.record.entries import Decided, Decision, Drafted, Entry, Started, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka.retrievers import InMemoryRetriever
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ANY, Filters, Hits, ThoughtStore
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Source
from tests.stubs.stores import PassingStore


@asynccontextmanager
async def in_process(_: Path) -> AsyncGenerator[Source]:
    yield Source(adapter=InProcessAdapter(DOCUMENTS, name="tested"))


@asynccontextmanager
async def folder(place: Path) -> AsyncGenerator[Source]:
    isles = place / "isles"
    isles.mkdir()
    for document in DOCUMENTS:
        assert document.published is not None
        front = f"---\ndate: {document.published.isoformat()}\n---\n"
        text = f"{front}# {document.title}\n\n{document.text}\n"
        (isles / f"{document.id}.md").write_text(text, encoding="utf-8")
    (adapter,) = open_adapters([f"tested=folder:{isles}"]).chosen()

    async def break_down() -> None:
        await to_thread.run_sync(isles.rename, place / "gone")

    ids = [f"{document.id}.md" for document in DOCUMENTS]
    yield Source(adapter=adapter, ids=ids, has_links=False, break_down=break_down)


class Failing(PassingStore):
    """A store that can be told to fail."""

    fails = False

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        if self.fails:
            raise StorageError("the disk is gone", "find it", retryable=True)
        return await super().search(query, limit=limit, only=only)


async def _keep(store: ThoughtStore) -> Sequence[str]:
    """The documents as the texts of finished runs; the ids of their versions."""
    ids: list[str] = []
    for document in DOCUMENTS:
        assert document.published is not None
        started = Started(prompt=document.title)
        thought = Thought(
            run_id=started.run_id,
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
async def thoughts(_: Path) -> AsyncGenerator[Source]:
    store = Failing(MemoryStorage())
    ids = await _keep(store)
    (adapter,) = open_adapters(["tested=thoughts:"], store=store).chosen()

    async def break_down() -> None:
        store.fails = True

    yield Source(adapter=adapter, ids=ids, has_links=False, break_down=break_down)


class Plain:
    """A retriever that returns whatever it has, more than it was asked for."""

    def __init__(self) -> None:
        self.inner = InMemoryRetriever([each.as_document() for each in DOCUMENTS])

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        return await self.inner.retrieve(query, limit + 5)


@asynccontextmanager
async def retriever(_: Path) -> AsyncGenerator[Source]:
    yield Source(adapter=RetrieverAdapter(Plain(), name="tested"))
