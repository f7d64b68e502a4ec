"""Any retriever as an adapter."""

from collections.abc import Sequence

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters, wanted
from sifaka.retrievers.protocol import Retriever
from sifaka.storage.protocol import Health


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
        found = await self.retriever.retrieve(query, limit)
        documents = (SourceDocument.of(each, adapter=self.name) for each in found)
        return wanted(documents, filters, limit)

    async def health(self) -> Health:
        """Nothing is known of a retriever until it is asked for something."""
        return Health(part=self.place, works=True, found="not asked")

    async def aclose(self) -> None:
        """Nothing: the retriever is closed by who made it."""
