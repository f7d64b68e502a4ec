"""Past texts as evidence: what was written and improved before."""

from collections.abc import Sequence

from sifaka.errors import SifakaError, SourceError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters, wanted
from sifaka.evidence.sources.collection import Adapters
from sifaka.retrievers.thoughts import ThoughtRetriever
from sifaka.storage.protocol import Filters, Health, ThoughtStore


class ThoughtsAdapter:
    """Finds the best versions of finished runs, of the tenant whose store it has.

    They say what was claimed before, which is no proof that it is true.

    Args:
        store: Where the runs are; it is not closed with the adapter.
        name: The adapter's name.
    """

    def __init__(self, store: ThoughtStore, *, name: str = "thoughts") -> None:
        self.store = store
        self.name = name

    @property
    def place(self) -> str:
        """The store's."""
        return f"thoughts in {self.store.place}"

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """The best versions of the runs that match, the best match first; see `Adapter`.

        Raises:
            SourceError: The store cannot be searched.
        """
        if not query.strip():
            return ()
        only = Filters(since=filters.since, until=filters.until)
        try:
            found = await ThoughtRetriever(self.store, only=only).retrieve(query, limit)
        except SifakaError as error:
            raise SourceError(
                f"{self.name}: {error.message}",
                error.suggestion,
                adapter=self.name,
                code="server" if error.retryable else "rejected",
            ) from error
        documents = (SourceDocument.of(each, adapter=self.name) for each in found)
        return wanted(documents, filters, limit)

    async def health(self) -> Health:
        """The health of the store."""
        parts = await self.store.health()
        failing = [each for each in parts if not each.works]
        told = "; ".join(f"{each.part}: {each.found}" for each in failing or parts)
        return Health(part=self.place, works=not failing, found=told)

    async def aclose(self) -> None:
        """Nothing: the store is closed by who opened it."""


def on_store(adapters: Adapters, store: ThoughtStore) -> Adapters:
    """The same adapters, with the past texts of another store.

    A server's tenants share what is configured, and none of them finds the texts of another. What
    comes back has nothing of its own to close.
    """
    if not adapters:
        return adapters
    return Adapters(
        ThoughtsAdapter(store, name=each.name) if isinstance(each, ThoughtsAdapter) else each
        for each in adapters.chosen()
    )
