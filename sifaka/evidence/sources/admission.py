"""What of an answer is wanted."""

from collections.abc import Iterable

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import SearchFilters


def wanted(
    documents: Iterable[SourceDocument], filters: SearchFilters, limit: int
) -> tuple[SourceDocument, ...]:
    """At most `limit` documents that the filters admit, in their order.

    Where dates are asked for and there is room, those follow that only lack a date. The search
    leaves them out, and can tell how many there were.
    """
    admitted: list[SourceDocument] = []
    undated: list[SourceDocument] = []
    anytime = filters.model_copy(update={"since": None, "until": None})
    for document in documents:
        if filters.admits(document):
            admitted.append(document)
        elif document.published is None and anytime.admits(document):
            undated.append(document)
    return (*admitted, *undated)[: max(0, limit)]
