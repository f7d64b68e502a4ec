"""One ranking of several: by words and by meaning at once.

By rank, because scores of different kinds have no common scale: Cormack, Clarke and Buettcher,
Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods (2009).
"""

from collections.abc import Hashable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
_K = 60
"""From the paper: how little the first places of one list outweigh places in both."""
_SHALLOWEST = 10


def fused_depth(limit: int) -> int:
    """How many of each ranking to fuse when so many hits are asked for.

    Not more than would be shown of each alone: far down a list by words stands what shares but a
    common word with the query, and with `K` = 60 places 50 in two lists beat a first place in one.
    """
    return max(_SHALLOWEST, limit)


def weight(rank: int) -> float:
    """What a place in a ranking counts, from 1 on."""
    return 1 / (_K + rank)


def fuse(*rankings: Sequence[Key]) -> list[tuple[Key, float]]:
    """What the rankings hold by the sum of 1 / (60 + rank) in each, with that sum, best first.

    Of equals the one that an earlier ranking has first comes first.
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight(rank)
    return sorted(scores.items(), key=lambda scored: scored[1], reverse=True)


def hybrid_name(missing: int) -> str:
    """What to call such a search while so many versions have no vector yet."""
    if not missing:
        return "hybrid"
    versions = "1 version is" if missing == 1 else f"{missing} versions are"
    return f"hybrid ({versions} not embedded yet)"
