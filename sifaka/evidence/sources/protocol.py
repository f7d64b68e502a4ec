"""The protocol of adapters."""

from collections.abc import Sequence
from typing import Protocol

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import SearchFilters
from sifaka.storage.protocol import Health


class Adapter(Protocol):
    """Searches one place."""

    @property
    def name(self) -> str:
        """Its name in arguments, results and errors."""
        ...

    @property
    def place(self) -> str:
        """The place it searches, for people, and to tell two sources apart; without secrets."""
        ...

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        """At most `limit` documents, best first, with this adapter's name.

        Filters may be applied as far as the source can: the search applies them to what comes back.

        Raises:
            SifakaError: The source cannot be reached, refuses or answers nonsense; one line says
                which and what to do.
        """
        ...

    async def health(self) -> Health:
        """Look whether the source answers, within some seconds; what fails is told, not raised."""
        ...

    async def aclose(self) -> None:
        """Release connections; the adapter is not used afterwards."""
        ...
