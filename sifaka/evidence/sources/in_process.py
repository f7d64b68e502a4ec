"""Documents that are at hand: nothing is sent anywhere."""

import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256

from anyio import to_thread

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters, wanted
from sifaka.record.thought import Document
from sifaka.retrievers.in_memory import searched_fields
from sifaka.storage.bm25 import WordIndex, query_words
from sifaka.storage.protocol import Health


class Searchable:
    """Documents whose words were counted once; reading them takes a while, searching does not."""

    def __init__(self, documents: Iterable[SourceDocument] = ()) -> None:
        self.documents = tuple(documents)
        self._index = WordIndex(searched_fields(d.text, d.title) for d in self.documents)

    def best(
        self, query: str, limit: int, filters: SearchFilters = ANYTHING
    ) -> tuple[SourceDocument, ...]:
        """At most `limit` documents that share a word with the query, with scores, best first.

        See `wanted` for what the filters do.
        """
        scores = self._index.rank(query_words(query))
        order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
        now = datetime.now(UTC)
        found = (
            self.documents[i].model_copy(update={"score": scores[i], "retrieved_at": now})
            for i in order
            if scores[i] > 0
        )
        return wanted(found, filters, limit)


class InProcessAdapter:
    """Finds documents that share words with the query, by BM25.

    Args:
        documents: What there is to find; a string is a document without a title.
        name: The adapter's name.
    """

    def __init__(
        self, documents: Iterable[SourceDocument | Document | str], *, name: str = "documents"
    ) -> None:
        self.name = name
        self.documents = tuple(_source(each, name) for each in documents)
        self._lock = threading.Lock()
        self._searchable: Searchable | None = None

    @property
    def place(self) -> str:
        """The number of documents, and a digest that tells them from others."""
        keys = " ".join(document.key for document in self.documents)
        return f"{len(self.documents)} documents ({sha256(keys.encode()).hexdigest()[:8]})"

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """The documents that match best, with their scores; those that share no word are left out.

        See `Adapter`.
        """
        return await to_thread.run_sync(self._search, query, limit, filters)

    def _search(self, query: str, limit: int, filters: SearchFilters) -> Sequence[SourceDocument]:
        with self._lock:
            if self._searchable is None:
                self._searchable = Searchable(self.documents)
        return self._searchable.best(query, limit, filters)

    async def health(self) -> Health:
        """Works, with however many documents."""
        return Health(part=self.place, works=True, found=f"{len(self.documents)} documents")

    async def aclose(self) -> None:
        """Nothing is open."""


def _source(document: SourceDocument | Document | str, name: str) -> SourceDocument:
    if isinstance(document, SourceDocument):
        return document.model_copy(update={"adapter": name})
    given = Document(text=document) if isinstance(document, str) else document
    return SourceDocument.of(given, adapter=name)
