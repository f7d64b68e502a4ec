"""The data of the evidence pipeline: plans, findings, judgements, and the events of its work."""

from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.evidence.criteria import Criterion
from sifaka.evidence.documents import SourceDocument
from sifaka.record.usage import Usage


class SearchPlan(Frozen):
    """The plan for one question."""

    question: str
    queries: tuple[str, ...] = Field(min_length=1, max_length=4)
    """The search queries, most telling first."""
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=4)
    degraded: str | None = None
    """The reason it was made without a model, in one line; None when a model made it."""
    notes: tuple[str, ...] = ()
    """The corrections to the model's plan, one line each."""
    usage: Usage = Usage()
    """The usage of making it."""


SearchStatus = Literal["found", "no_results", "search_failed"]


class Searched(Frozen):
    """The merged results of one search."""

    status: SearchStatus
    documents: tuple[SourceDocument, ...] = ()
    """Each once, best first, at most as many as were wanted."""
    failures: FrozenMap[str] = Field(default_factory=dict[str, str])
    """The reason an adapter gave no answer, in one line, by its name."""
    notes: tuple[str, ...] = ()
    """Further notes for a reader, such as the number of documents without a date."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """One line for each adapter that failed."""
        return tuple(f"{name}: {error}" for name, error in sorted(self.failures.items()))


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
    """The judgement of one document on one criterion."""

    criterion: str
    """The criterion's id."""
    judgement: Judgement
    quotes: tuple[str, ...] = ()
    """Words of the document that show it, exactly as they stand there."""
    contradicts: bool = False
    """With `reject`: whether the document says the contrary, rather than something else."""
    flags: tuple[Flag, ...] = ()
    """The faults of the verifier's answer."""


class Verification(Frozen):
    """A document and what was said about it."""

    document: SourceDocument
    assessments: tuple[Assessment, ...] = ()
    """One for each criterion, in their order; none when the document could not be verified."""
    degraded: str | None = None
    """The reason it could not be verified, in one line."""
    usage: Usage = Usage()
    """The usage of verifying it."""


class Evidence(Frozen):
    """A document with the class and the score that its verification amounts to."""

    document: SourceDocument
    assessments: tuple[Assessment, ...] = ()
    classification: Classification
    score: float = 0.0
    """0 to 1; of an unverified document the share of the best match's rank, for order only."""
    degraded: str | None = None


class EvidenceResult(Frozen):
    """The evidence for one question."""

    question: str
    plan: SearchPlan
    status: SearchStatus
    evidence: tuple[Evidence, ...] = ()
    """Perfect, partial, unverified, then rejected documents, the higher score first."""
    degraded: tuple[str, ...] = ()
    """The steps that failed or fell back, one line each."""
    notes: tuple[str, ...] = ()
    """Further notes for a reader, such as the number of documents without a date."""
    usage: Usage = Usage()
    """The usage of the plan and the verification."""


class Planned(Frozen):
    """The plan is made."""

    kind: Literal["planned"] = "planned"
    plan: SearchPlan


class SearchFinished(Frozen):
    """The search is over."""

    kind: Literal["searched"] = "searched"
    searched: Searched


class Verified(Frozen):
    """One document has been looked at; they come in any order."""

    kind: Literal["verified"] = "verified"
    evidence: Evidence
    number: int
    """The document's place among those that were found, from 0."""
    of: int
    """The number of documents found."""


class Finished(Frozen):
    """Everything is done; the last value of every stream."""

    kind: Literal["finished"] = "finished"
    result: EvidenceResult


EvidenceProgress = Planned | SearchFinished | Verified | Finished


class BatchEntry(Frozen):
    """The outcome of one question of several: a result or an error, never both."""

    question: str
    result: EvidenceResult | None = None
    error: str | None = None
    """The reason there is none, in one line."""
