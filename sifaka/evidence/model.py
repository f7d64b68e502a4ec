"""The data of the evidence pipeline: criteria, plans, judgements, classes, scores and events."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import permutations
from math import fsum
from operator import add
from types import MappingProxyType
from typing import Literal, TypeVar

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.evidence.documents import SourceDocument
from sifaka.record.usage import Usage

_FINEST = 2**53
_MOST_ORDERS = 4
"""Shares of which every order is tried, which are the criteria of a plan."""


class Criterion(Frozen):
    """One thing a document should meet."""

    id: str
    type: str = "topic"
    """A word such as `topic`, `time` or `claim`; case and spaces around it do not count."""
    name: str = ""
    description: str = ""
    """The thing to look for, as a sentence."""
    weight: float = Field(default=1.0, ge=0, le=1)
    """The share of the score; those of one plan add up to 1."""

    @property
    def is_about_time(self) -> bool:
        """True when it asks only for a time, which makes no document relevant by itself."""
        return self.type.strip().casefold() == "time"


def weighted(criteria: Sequence[Criterion], weights: Sequence[float]) -> tuple[Criterion, ...]:
    """The criteria with weights that add up to exactly 1, in whatever order they are added.

    Args:
        criteria: Any number.
        weights: The weight of each, in any unit: 60 and 40 are .6 and .4. A negative one counts as
            0; if all do, they count the same.
    """
    values = [Fraction(max(0.0, weight)) for weight in weights]
    total = sum(values)
    shares = [weight / total if total else Fraction(1, len(values)) for weight in values]
    return tuple(
        criterion.model_copy(update={"weight": share})
        for criterion, share in zip(criteria, _round_shares(shares), strict=True)
    )


def _round_shares(shares: Sequence[Fraction]) -> list[float]:
    """The shares as floats that add up: the nearest ones, or else whole parts of 2^-53.

    Sums of such parts up to 1 are exact.
    """
    nearest = [float(share) for share in shares]
    is_exact = fsum(nearest) == 1.0 and len(nearest) <= _MOST_ORDERS
    in_turn = permutations(nearest)
    if not shares or (is_exact and all(reduce(add, each) == 1.0 for each in in_turn)):
        return nearest
    parts = [round(share * _FINEST) for share in shares]
    parts[parts.index(max(parts))] += _FINEST - sum(parts)
    return [part / _FINEST for part in parts]


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
    usage: Usage = Field(default_factory=Usage)
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
    usage: Usage = Field(default_factory=Usage)
    """The usage of verifying it."""


class Classified(Frozen):
    """Something with a class and a score."""

    classification: Classification
    score: float = 0.0
    """0 to 1; of an unverified document the share of the best match's rank, for order only."""


class Evidence(Verification, Classified):
    """A document with the class and the score that its verification amounts to."""


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
    usage: Usage = Field(default_factory=Usage)
    """The usage of the plan and the verification."""


class Verified(Frozen):
    """One document has been looked at; they come in any order."""

    evidence: Evidence
    number: int
    """The document's place among those that were found, from 0."""
    of: int
    """The number of documents found."""


EvidenceProgress = SearchPlan | Searched | Verified | EvidenceResult
"""A step that is done: the plan, what was found, each document as it is verified, the result."""


class BatchEntry(Frozen):
    """The outcome of one question of several: a result or an error, never both."""

    question: str
    result: EvidenceResult | None = None
    error: str | None = None
    """The reason there is none, in one line."""


_WORTH: Mapping[Judgement, float] = MappingProxyType(
    {"support": 1.0, "somewhat_support": 0.5, "reject": 0.0, "insufficient_information": 0.0}
)
_ORDER: Mapping[Classification, int] = MappingProxyType(
    {"perfect": 0, "partial": 1, "unverified": 2, "reject": 3}
)
"""An unverified document may be better than a rejected one."""


C = TypeVar("C", bound=Classified)


def classify(verification: Verification, criteria: Sequence[Criterion]) -> Evidence:
    """The class and the score of a document.

    `perfect`: every criterion supports it. `partial`: at least one that is not about time supports
    or somewhat supports it. `reject`: otherwise, so also where nothing but some of the time fits.
    `unverified`: it could not be verified. The score is the sum of weight times 1 for support and
    .5 for somewhat, at most 1; of an unverified document it is 0.
    """
    fields = dict(verification)
    if verification.degraded is not None:
        return Evidence(classification="unverified", **fields)
    judged = {each.criterion: _WORTH[each.judgement] for each in verification.assessments}
    worth = [(each, judged.get(each.id, 0.0)) for each in criteria]
    is_perfect = bool(worth) and all(value == 1.0 for _, value in worth)
    is_partial = any(value > 0 and not each.is_about_time for each, value in worth)
    return Evidence(
        classification="perfect" if is_perfect else "partial" if is_partial else "reject",
        score=min(1.0, sum(each.weight * value for each, value in worth)),
        **fields,
    )


_SAID: Mapping[Judgement, str] = MappingProxyType(
    {
        "support": "supports",
        "somewhat_support": "supports in part",
        "reject": "does not meet",
        "insufficient_information": "does not tell of",
    }
)


def explained(evidence: Evidence, criteria: Sequence[Criterion]) -> str:
    """The reason for the class of a document, in a sentence made of its judgements."""
    if evidence.classification == "unverified":
        return f"It was not verified: {evidence.degraded or 'that was not asked for'}."
    names = {each.id: f"{(each.name or each.id)!r}" for each in criteria}
    by_verb: dict[str, list[str]] = {}
    for each in evidence.assessments:
        verb = "contradicts" if each.contradicts else _SAID[each.judgement]
        by_verb.setdefault(verb, []).append(names.get(each.criterion, each.criterion))
    parts = (f"{verb} {', '.join(those)}" for verb, those in by_verb.items())
    return f"It {'; '.join(parts) or 'was judged by no criterion'}."


def ranked(evidence: Iterable[C]) -> tuple[C, ...]:
    """Perfect, partial, unverified, then rejected evidence, the higher score first.

    What is equal keeps its order.
    """
    return tuple(sorted(evidence, key=lambda each: (_ORDER[each.classification], -each.score)))
