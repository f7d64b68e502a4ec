"""Adapters without a server: documents at hand, a retriever, and past texts."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256

from anyio import to_thread

from sifaka.errors import SifakaError, SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument, spread, wanted
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.thought import Document
from sifaka.retrievers.in_memory import searched_fields
from sifaka.retrievers.protocol import Retriever
from sifaka.retrievers.thoughts import ThoughtRetriever
from sifaka.storage.bm25 import WordIndex, best_first, query_words
from sifaka.storage.protocol import Filters, Health, ThoughtStore


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
        now = datetime.now(UTC)
        matches = (
            self.documents[i].model_copy(update={"score": scores[i], "retrieved_at": now})
            for i in best_first(scores)
            if scores[i] > 0
        )
        return wanted(spread(matches), filters, limit)


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
        self.documents = tuple(_as_source(each, name) for each in documents)

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
        return await to_thread.run_sync(lambda: self._searchable.best(query, limit, filters))

    @cached_property
    def _searchable(self) -> Searchable:
        return Searchable(self.documents)

    async def health(self) -> Health:
        """Works, with however many documents."""
        return Health(part=self.place, works=True, found=f"{len(self.documents)} documents")

    async def aclose(self) -> None:
        """Nothing is open."""


def _as_source(document: SourceDocument | Document | str, name: str) -> SourceDocument:
    if isinstance(document, SourceDocument):
        return document.model_copy(update={"adapter": name})
    item = Document(text=document) if isinstance(document, str) else document
    return SourceDocument.of(item, adapter=name)


class RetrieverAdapter:
    """Searches with a retriever.

    Args:
        retriever: What finds documents; it is not closed with the adapter.
        name: The adapter's name.
        place: Where it searches, to tell two retrievers of one type apart.
    """

    def __init__(self, retriever: Retriever, *, name: str, place: str = "") -> None:
        self.retriever = retriever
        self.name = name
        self.place = place or type(retriever).__name__

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """The retriever's documents that the filters admit, in its order; see `Adapter`."""
        if not query.strip() or limit < 1:
            return ()
        documents = await self._search(query, limit, filters)
        return wanted((SourceDocument.of(d, adapter=self.name) for d in documents), filters, limit)

    async def _search(self, query: str, limit: int, filters: SearchFilters) -> Sequence[Document]:
        return await self.retriever.retrieve(query, limit)

    async def health(self) -> Health:
        """Nothing is known of a retriever until it is asked for something."""
        return Health(part=self.place, works=True, found="not asked")

    async def aclose(self) -> None:
        """Nothing: the retriever is closed by who made it."""


class ThoughtsAdapter(RetrieverAdapter):
    """Finds the best versions of finished runs, of the tenant whose store it has.

    They say what was claimed before, which is no proof that it is true. A store that cannot be
    searched is a `SourceError`.

    Args:
        store: Where the runs are; it is not closed with the adapter.
        name: The adapter's name.
    """

    def __init__(self, store: ThoughtStore, *, name: str = "thoughts") -> None:
        super().__init__(ThoughtRetriever(store), name=name, place=f"thoughts in {store.place}")
        self.store = store

    async def _search(self, query: str, limit: int, filters: SearchFilters) -> Sequence[Document]:
        only = Filters(since=filters.since, until=filters.until)
        try:
            return await ThoughtRetriever(self.store, only=only).retrieve(query, limit)
        except SifakaError as error:
            raise SourceError(
                f"{self.name}: {error.message}",
                error.suggestion,
                adapter=self.name,
                error_code="server" if error.retryable else "rejected",
            ) from error

    async def health(self) -> Health:
        """The health of the store."""
        parts = await self.store.health()
        failing = [each for each in parts if not each.works]
        summary = "; ".join(f"{each.part}: {each.found}" for each in failing or parts)
        return Health(part=self.place, works=not failing, found=summary)


def on_store(adapters: Adapters, store: ThoughtStore) -> Adapters:
    """The same adapters, with the past texts of another store.

    A server's tenants share what is configured, and none of them finds the texts of another. What
    comes back has nothing of its own to close.
    """
    return Adapters(
        ThoughtsAdapter(store, name=each.name) if isinstance(each, ThoughtsAdapter) else each
        for each in (adapters.chosen() if adapters else ())
    )
