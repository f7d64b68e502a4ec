"""Retrievers over documents at hand: by their words, and for tests."""

from collections.abc import Iterable, Sequence

from anyio import to_thread

from sifaka.record.thought import Document
from sifaka.retrievers.protocol import DOCUMENTS
from sifaka.storage.bm25 import best_first, query_words, rank


class InMemoryRetriever:
    """Finds documents that share words with the query, by BM25; the title counts half.

    Words are compared without case and accents, and are not stemmed. Each query reads every
    document, so this is for hundreds of pages, not for a library.

    Args:
        documents: The documents to find; a string is a document without a title.
    """

    def __init__(self, documents: Iterable[Document | str]) -> None:
        self.documents = as_documents(documents)

    async def retrieve(self, query: str, limit: int = DOCUMENTS) -> Sequence[Document]:
        """The documents that match best, with their scores; those that share no word are left out.

        Scores are comparable within one answer only.
        """
        words = query_words(query)
        fields = [searched_fields(d.text, d.title) for d in self.documents]
        scores = await to_thread.run_sync(rank, words, fields)
        return tuple(
            self.documents[i].model_copy(update={"score": scores[i]})
            for i in best_first(scores)[: max(0, limit)]
            if scores[i] > 0
        )


def searched_fields(text: str, title: str) -> tuple[tuple[str, float], ...]:
    """The fields of a document that are searched, each with its weight: the title counts half."""
    return (text, 1.0), (title, 0.5)


def as_documents(documents: Iterable[Document | str]) -> tuple[Document, ...]:
    """Documents, those included that were given as their text."""
    return tuple(Document(text=d) if isinstance(d, str) else d for d in documents)


Documents = Iterable[Document | str]
