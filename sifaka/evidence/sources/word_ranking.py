"""The best of some documents for a query, by the words they share."""

from collections.abc import Iterable
from datetime import UTC, datetime

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters
from sifaka.evidence.ranking import searched_fields
from sifaka.evidence.sources.admission import wanted
from sifaka.storage.bm25 import WordIndex, query_words


class Searchable:
    """Documents whose words were counted once; reading them takes a while, searching does not."""

    def __init__(self, documents: Iterable[SourceDocument] = ()) -> None:
        self.documents = tuple(documents)
        self._index = WordIndex(map(searched_fields, self.documents))

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
