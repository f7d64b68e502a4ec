"""The floor of meaning: words that mean something else than a claim do not bear it out."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from sifaka.calls.context import recorded
from sifaka.calls.failure_log import report_failure
from sifaka.embeddings.protocol import Embedder
from sifaka.errors import EmbeddingError

logger = logging.getLogger(__name__)


class MeaningFloor(NamedTuple):
    """The cosines with a claim from which quoted words may bear a judgement out."""

    least: float
    """Of the claim and the words quoted in its support, at least."""
    contradicting: float
    """Of the claim and the words quoted against it, at least."""
    as_near: float
    """The part of the cosine of the nearest sentence that they have at least: of some models, texts
    about different things are near to each other too."""


FLOOR = MeaningFloor(least=0.55, contradicting=0.2, as_near=0.5)
"""Chosen on the tuning half of the labelled claims with all-MiniLM-L6-v2 and a static model of it.

Support: the height at which judges that lie got the fewest false claims supported (3 and 4 in place
of 8) while at most 10 % of the true ones were refused (5 and 4 of 60). Contradictions: at 0.55 it
refused 9 of 81 true ones, and no false one. `make bench-claims EMBEDDER=...` measures it again, and
`docs/evidence.md` has the table.
"""


async def means_something_else(
    claim: str,
    quotes: Sequence[str],
    others: Sequence[str],
    embedder: Embedder,
    *,
    least: float,
    as_near: float,
) -> bool:
    """True when quoted words are far from a claim, or much farther than other sentences.

    It goes on record. An embedder that fails is as none: the words have been compared.

    Args:
        claim: The claim.
        quotes: The whole sentences that are quoted for it.
        others: Further sentences of the document.
        embedder: Tells how near their meanings are.
        least: The cosine that one of the quotes has to have with the claim.
        as_near: The part of the cosine of the nearest sentence that it has to have.
    """
    texts = [claim, *quotes, *others]

    async def look() -> str:
        try:
            ours, *theirs = await embedder.embed(texts, role="document")
        except EmbeddingError as error:
            report_failure(logger, "evidence:embedder", error)
            return ""
        near = [sum(a * b for a, b in zip(ours, each, strict=True)) for each in theirs]
        quoted = max(near[: len(quotes)])
        return "far" if quoted < max(least, as_near * max(near)) else ""

    return bool(
        await recorded("meaning", [embedder.model_id, f"{least:g} {as_near:g}", *texts], look)
    )
