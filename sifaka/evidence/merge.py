"""One list of documents out of many."""

from collections import defaultdict
from collections.abc import Sequence

from sifaka.evidence.deduplication import groups
from sifaka.evidence.documents import SourceDocument

_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def merged(lists: Sequence[Sequence[SourceDocument]], most: int) -> tuple[SourceDocument, ...]:
    """The documents of all lists, each once, best first, by reciprocal rank fusion.

    Scores of different sources cannot be compared, their ranks can: a document has the sum of
    1 / (60 + rank) over the lists that hold it, as its score. Of the copies of a document one is
    kept: with an address rather than without, then with a date, then the one with more text.

    Args:
        lists: What each source answered to each query, best first.
        most: Documents to keep.
    """
    found = [
        (number, rank, document)
        for number, documents in enumerate(lists)
        for rank, document in enumerate(documents, 1)
    ]
    fused: list[SourceDocument] = []
    for places in groups(document for _, _, document in found):
        best: defaultdict[int, int] = defaultdict(lambda: len(found))
        for number, rank, _ in (found[at] for at in places):
            best[number] = min(best[number], rank)
        # The first of several that are as good: `max` keeps it.
        copy = max((found[at][2] for at in places), key=_worth)
        score = sum(1 / (_K + rank) for rank in best.values())
        fused.append(copy.model_copy(update={"score": score}))
    fused.sort(key=lambda document: -(document.score or 0.0))
    return tuple(fused[:most])


def _worth(document: SourceDocument) -> tuple[bool, bool, int]:
    return bool(document.url or document.doi), document.published is not None, len(document.text)
