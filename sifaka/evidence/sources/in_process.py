"""Documents that are at hand: nothing is sent anywhere."""

import threading
from collections.abc import Iterable, Sequence
from hashlib import sha256

from anyio import to_thread

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters
from sifaka.evidence.sources.word_ranking import Searchable
from sifaka.record.thought import Document
from sifaka.storage.protocol import Health


class InProcessAdapter:
    """Finds documents that share words with the query, by BM25.

    Args:
        documents: What there is to find; a string is a document without a title.
        name: The adapter's name.
    """

    def __init__(
        self, documents: Iterable[SourceDocument | Document | str], *, name: str = "documents"
    ) -> None:
        self._name = name
        self.documents = tuple(_source(each, name) for each in documents)
        self._lock = threading.Lock()
        self._searchable: Searchable | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    @property
    def place(self) -> str:
        """How many documents, and a digest that tells them from others."""
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
