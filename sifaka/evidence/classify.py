"""What the judgements on a document amount to."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar

from sifaka.evidence.assessments import Classification, Evidence, Judgement, Verification
from sifaka.evidence.criteria import Criterion

_WORTH: Mapping[Judgement, float] = MappingProxyType(
    {"support": 1.0, "somewhat_support": 0.5, "reject": 0.0, "insufficient_information": 0.0}
)
_ORDER: Mapping[Classification, int] = MappingProxyType(
    {"perfect": 0, "partial": 1, "unverified": 2, "reject": 3}
)
"""What nobody has looked at may be better than what was looked at and turned down."""


class Classified(Protocol):
    """Something with a class and a score."""

    @property
    def classification(self) -> Classification:
        """Its class."""
        ...

    @property
    def score(self) -> float:
        """Its score."""
        ...


C = TypeVar("C", bound=Classified)


def classify(verification: Verification, criteria: Sequence[Criterion]) -> Evidence:
    """The class and the score of a document.

    `perfect`: every criterion supports it. `partial`: at least one that is not about time supports
    or somewhat supports it. `reject`: otherwise, so also where nothing but the time fits.
    `unverified`: it could not be verified. The score is the sum of weight times 1 for support and
    .5 for somewhat, at most 1; of an unverified document it is 0.
    """
    document, degraded = verification.document, verification.degraded
    if degraded is not None:
        return Evidence(document=document, classification="unverified", degraded=degraded)
    judgements: dict[str, Judgement] = {
        each.criterion: each.judgement for each in verification.assessments
    }
    worth = {each.id: _WORTH[judgements.get(each.id, "reject")] for each in criteria}
    passing = [each for each in criteria if worth[each.id] > 0 and not each.is_about_time]
    classification: Classification = "partial" if passing else "reject"
    if passing and all(worth[each.id] == 1.0 for each in criteria):
        classification = "perfect"
    return Evidence(
        document=document,
        assessments=verification.assessments,
        classification=classification,
        score=min(1.0, sum(each.weight * worth[each.id] for each in criteria)),
    )


def ranked(evidence: Iterable[C]) -> tuple[C, ...]:
    """Perfect, partial, unverified, then rejected evidence, the higher score first.

    What is equal keeps its order.
    """
    return tuple(sorted(evidence, key=lambda each: (_ORDER[each.classification], -each.score)))
