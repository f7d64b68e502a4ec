"""Retrievers over documents at hand: by their words, and for tests."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from anyio import to_thread

from sifaka.record.thought import Document
from sifaka.storage.bm25 import query_words, rank


class InMemoryRetriever:
    """Finds documents that share words with the query, by BM25; the title counts half.

    Words are compared without case and accents, and are not stemmed. Each query reads every
    document, so this is for hundreds of pages, not for a library.

    Args:
        documents: The documents to find; a string is a document without a title.
    """

    def __init__(self, documents: Iterable[Document | str]) -> None:
        self.documents = as_documents(documents)

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """The documents that match best, with their scores; those that share no word are left out.

        Scores are comparable within one answer only.
        """
        words = query_words(query)
        fields = [searched_fields(d.text, d.title) for d in self.documents]
        scores = await to_thread.run_sync(rank, words, fields)
        order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
        return tuple(
            self.documents[i].model_copy(update={"score": scores[i]})
            for i in order[: max(0, limit)]
            if scores[i] > 0
        )


def searched_fields(text: str, title: str) -> tuple[tuple[str, float], ...]:
    """The fields of a document that are searched, each with its weight: the title counts half."""
    return (text, 1.0), (title, 0.5)


def as_documents(documents: Iterable[Document | str]) -> tuple[Document, ...]:
    """Documents, those included that were given as their text."""
    return tuple(Document(text=d) if isinstance(d, str) else d for d in documents)


Documents = Iterable[Document | str]


class MockRetriever:
    """Finds what a test says, and remembers what it was asked.

    Args:
        documents: The documents for any query, or for each query; for one that is not in the
            mapping nothing is found.
        fails: The error that is raised instead.
    """

    def __init__(
        self,
        documents: Documents | Mapping[str, Documents] = (),
        *,
        fails: Exception | None = None,
    ) -> None:
        self._documents: Mapping[str, Documents] | tuple[Document, ...] = (
            cast("Mapping[str, Documents]", documents)
            if isinstance(documents, Mapping)
            else as_documents(documents)
        )
        self._fails = fails
        self.queries: list[str] = []
        """The queries, in order."""

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """The first `limit` of the documents for this query."""
        self.queries.append(query)
        if self._fails is not None:
            raise self._fails
        told = self._documents
        found = told.get(query, ()) if isinstance(told, Mapping) else told
        return as_documents(found)[: max(0, limit)]
