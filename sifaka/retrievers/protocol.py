"""The protocol of retrievers."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sifaka.record.thought import Document


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for a query."""

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """At most `limit` documents, best first."""
        ...
