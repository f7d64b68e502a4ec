"""The data of the evidence pipeline: plans, findings, judgements, and the events of its work."""

from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.evidence.criteria import Criterion
from sifaka.evidence.documents import SourceDocument
from sifaka.record.usage import Usage


class Plan(Frozen):
    """The plan for one question."""

    question: str
    queries: tuple[str, ...] = Field(min_length=1, max_length=4)
    """What is searched for, most telling first."""
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=4)
    degraded: str | None = None
    """Why it was made without a model, in one line; None when a model made it."""
    notes: tuple[str, ...] = ()
    """What was wrong with the model's plan and has been put right, one line each."""
    usage: Usage = Usage()
    """What making it has consumed."""


SearchStatus = Literal["found", "no_results", "search_failed"]


class Searched(Frozen):
    """The merged results of one search."""

    status: SearchStatus
    documents: tuple[SourceDocument, ...] = ()
    """Each once, best first, at most as many as were wanted."""
    failures: FrozenMap[str] = Field(default_factory=dict[str, str])
    """Why an adapter could not answer, in one line, by its name."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, such as how many documents had no date."""

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


class EvidenceResult(Frozen):
    """The evidence for one question."""

    question: str
    plan: Plan
    status: SearchStatus
    evidence: tuple[Evidence, ...] = ()
    """Perfect, partial, unverified, then rejected documents, the higher score first."""
    degraded: tuple[str, ...] = ()
    """What did not work as it should have, one line each."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, such as how many documents had no date."""
    usage: Usage = Usage()
    """What the plan and the verification have consumed."""


class Planned(Frozen):
    """The plan is made."""

    kind: Literal["planned"] = "planned"
    plan: Plan


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
    """How many were found."""


class Finished(Frozen):
    """Everything is done; the last value of every stream."""

    kind: Literal["finished"] = "finished"
    result: EvidenceResult


EvidenceProgress = Planned | SearchFinished | Verified | Finished


class BatchEntry(Frozen):
    """What came of one question of several: a result or an error, never both."""

    question: str
    result: EvidenceResult | None = None
    error: str | None = None
    """Why there is none, in one line."""
