"""A retriever for tests: what it finds is given to it."""

from collections.abc import Mapping, Sequence
from typing import cast

from sifaka.record.thought import Document
from sifaka.retrievers.in_memory import Documents, as_documents
from sifaka.retrievers.protocol import DOCUMENTS


class MockRetriever:
    """Finds what a test gives it, and remembers the queries.

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

    async def retrieve(self, query: str, limit: int = DOCUMENTS) -> Sequence[Document]:
        """The first `limit` of the documents for this query."""
        self.queries.append(query)
        if self._fails is not None:
            raise self._fails
        documents = self._documents
        matches = documents.get(query, ()) if isinstance(documents, Mapping) else documents
        return as_documents(matches)[: max(0, limit)]
