"""What the evidence pipeline tells while it works, and what comes of it."""

from typing import Literal

from sifaka._internal.immutable import Frozen
from sifaka.evidence.assessments import Evidence
from sifaka.evidence.plan import Plan
from sifaka.evidence.search_result import Searched, SearchStatus
from sifaka.record.usage import Usage


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


class Found(Frozen):
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


EvidenceProgress = Planned | Found | Verified | Finished


class BatchEntry(Frozen):
    """What came of one question of several: a result or an error, never both."""

    question: str
    result: EvidenceResult | None = None
    error: str | None = None
    """Why there is none, in one line."""
