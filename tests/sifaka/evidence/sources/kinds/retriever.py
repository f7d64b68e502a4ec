"""A retriever that has the documents."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sifaka.evidence.sources.in_process import RetrieverAdapter
from sifaka.record.thought import Document
from sifaka.retrievers import InMemoryRetriever
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Source


class Plain:
    """One that returns whatever it has, more than it was asked for."""

    def __init__(self) -> None:
        self.inner = InMemoryRetriever([each.as_document() for each in DOCUMENTS])

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        return await self.inner.retrieve(query, limit + 5)


@asynccontextmanager
async def source(folder: Path) -> AsyncGenerator[Source]:
    del folder
    yield Source(adapter=RetrieverAdapter(Plain(), name="tested"))
