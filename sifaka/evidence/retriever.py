"""Evidence for writers and critics, through the search that everything else uses."""

import json
from collections.abc import Sequence
from hashlib import sha256

from sifaka.calls.journal import scope
from sifaka.errors import SourceError
from sifaka.evidence.filters import ANYTHING, SearchFilters
from sifaka.evidence.search import MOST_RESULTS, search
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.thought import Document


class EvidenceRetriever:
    """A retriever that searches adapters: merged, deduplicated, on record, with deadlines.

    Args:
        adapters: Where to search.
        names: Of those the ones to use; none means all.
        filters: Which documents are wanted.

    Raises:
        ConfigurationError: There is no adapter at all, or none of a name.
    """

    def __init__(
        self,
        adapters: Adapters,
        *,
        names: Sequence[str] = (),
        filters: SearchFilters = ANYTHING,
    ) -> None:
        self.adapters = adapters
        self.filters = filters
        self._chosen = adapters.chosen(names)

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """Search all adapters, best documents first; one that fails costs the others nothing.

        Within a run the answers go on record: who asks the same again gets the same.

        Raises:
            SourceError: None of them has answered; one line says why for each.
            StorageError: An answer could not be put on record.
        """
        if limit < 1 or not query.strip():
            return ()
        with scope(f"retrieve {self._digest(query)}"):
            found = await search(
                self._chosen,
                [query],
                max_results=min(limit, MOST_RESULTS),
                filters=self.filters,
            )
        if found.status == "search_failed":
            raise SourceError(
                f"no source could be searched: {'; '.join(found.degraded)}",
                "`sifaka doctor` looks at each of them",
                code="connection",
            )
        return tuple(document.as_document() for document in found.documents)

    def _digest(self, query: str) -> str:
        """A digest that tells this question from the others of a run."""
        places = [adapter.place for adapter in self._chosen]
        asked = json.dumps([query, places, self.filters.model_dump(mode="json")])
        return sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]
