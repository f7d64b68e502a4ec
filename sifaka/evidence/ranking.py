"""The order of documents without a model."""

from collections.abc import Iterable

from sifaka.evidence.documents import SourceDocument
from sifaka.storage.bm25 import query_words, rank

_TEXT_WEIGHT = 1.0
_TITLE_WEIGHT = 0.5


def searched_fields(document: SourceDocument) -> tuple[tuple[str, float], ...]:
    """What of a document is searched, each with its weight."""
    return (document.text, _TEXT_WEIGHT), (document.title, _TITLE_WEIGHT)


def scores_of(query: str, documents: Iterable[SourceDocument]) -> list[float]:
    """How well each document matches a query, by BM25; the title counts half.

    Words are compared without case and accents, and are not stemmed. It reads every word: on
    documents of many pages, run it in a thread.

    Returns:
        Scores that are comparable within this answer only, 0 where nothing matches.
    """
    return rank(query_words(query), [searched_fields(each) for each in documents])


def rank_documents(query: str, documents: Iterable[SourceDocument]) -> tuple[SourceDocument, ...]:
    """All documents in the order of their `scores_of` a query, and with them.

    What matches equally well, or not at all, keeps its order.
    """
    given = tuple(documents)
    scores = scores_of(query, given)
    order = sorted(range(len(given)), key=lambda at: -scores[at])
    return tuple(given[at].model_copy(update={"score": scores[at]}) for at in order)
