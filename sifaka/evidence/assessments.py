"""What a verifier says about a document, and what follows from it."""

from typing import Literal

from sifaka._internal.immutable import Frozen
from sifaka.evidence.documents import SourceDocument
from sifaka.record.usage import Usage

Judgement = Literal["support", "somewhat_support", "reject", "insufficient_information"]
Classification = Literal["perfect", "partial", "reject", "unverified"]
Flag = Literal["quote_not_found", "missing", "duplicate"]
WORST_FIRST: tuple[Judgement, ...] = (
    "reject",
    "insufficient_information",
    "somewhat_support",
    "support",
)
"""Of two judgements on one criterion the one that comes first here counts."""


class Assessment(Frozen):
    """What one document says about one criterion."""

    criterion: str
    """The criterion's id."""
    judgement: Judgement
    quotes: tuple[str, ...] = ()
    """Words of the document that show it, exactly as they stand there."""
    contradicts: bool = False
    """With `reject`: whether the document says the contrary, rather than something else."""
    flags: tuple[Flag, ...] = ()
    """What was wrong with the verifier's answer."""


class Verification(Frozen):
    """A document and what was said about it."""

    document: SourceDocument
    assessments: tuple[Assessment, ...] = ()
    """One for each criterion, in their order; none when the document could not be verified."""
    degraded: str | None = None
    """Why it could not be verified, in one line."""
    usage: Usage = Usage()
    """What asking about it has consumed."""


class Evidence(Frozen):
    """A document with the class and the score that its verification amounts to."""

    document: SourceDocument
    assessments: tuple[Assessment, ...] = ()
    classification: Classification
    score: float = 0.0
    """0 to 1; of an unverified document the share of the best match's rank, for order only."""
    degraded: str | None = None
