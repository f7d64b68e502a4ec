"""A retriever for tests: what it finds is written down."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from sifaka.record.thought import Document
from sifaka.retrievers.in_memory import as_documents

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
        self._by_query: Mapping[str, tuple[Document, ...]] | None = None
        self._always: tuple[Document, ...] = ()
        if isinstance(documents, Mapping):
            answers = cast("Mapping[str, Documents]", documents)
            self._by_query = {query: as_documents(found) for query, found in answers.items()}
        else:
            self._always = as_documents(documents)
        self._fails = fails
        self.queries: list[str] = []
        """The queries, in order."""

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """The first `limit` of the documents for this query."""
        self.queries.append(query)
        if self._fails is not None:
            raise self._fails
        found = self._always if self._by_query is None else self._by_query.get(query, ())
        return found[: max(0, limit)]
