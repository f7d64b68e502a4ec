"""From the judgements on a document to its class and its score."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from sifaka.evidence.model import (
    Classification,
    Classified,
    Criterion,
    Evidence,
    Judgement,
    Verification,
)

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
    told = dict(verification)
    if verification.degraded is not None:
        return Evidence(classification="unverified", **told)
    judgements: dict[str, Judgement] = {
        each.criterion: each.judgement for each in verification.assessments
    }
    worth = {each.id: _WORTH[judgements.get(each.id, "reject")] for each in criteria}
    passing = [each for each in criteria if worth[each.id] > 0 and not each.is_about_time]
    classification: Classification = "partial" if passing else "reject"
    if criteria and all(worth[each.id] == 1.0 for each in criteria):
        classification = "perfect"
    score = min(1.0, sum(each.weight * worth[each.id] for each in criteria))
    return Evidence(classification=classification, score=score, **told)


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
    said: dict[str, list[str]] = {}
    for each in evidence.assessments:
        verb = "contradicts" if each.contradicts else _SAID[each.judgement]
        said.setdefault(verb, []).append(names.get(each.criterion, each.criterion))
    told = "; ".join(f"{verb} {', '.join(those)}" for verb, those in said.items())
    return f"It {told or 'was judged by no criterion'}."


def ranked(evidence: Iterable[C]) -> tuple[C, ...]:
    """Perfect, partial, unverified, then rejected evidence, the higher score first.

    What is equal keeps its order.
    """
    return tuple(sorted(evidence, key=lambda each: (_ORDER[each.classification], -each.score)))
