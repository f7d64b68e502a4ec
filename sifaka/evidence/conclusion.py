"""The result of a question, put together from its steps."""

from collections import Counter
from collections.abc import Sequence

from anyio import to_thread

from sifaka.evidence.assessments import Evidence, Verification
from sifaka.evidence.classify import classify, ranked
from sifaka.evidence.plan import Plan
from sifaka.evidence.progress import EvidenceResult
from sifaka.evidence.ranking import scores_of
from sifaka.evidence.search_result import Searched


async def concluded(
    made: Plan, searched: Searched, verifications: Sequence[Verification]
) -> EvidenceResult:
    """The evidence in its order, and what did not work as it should have.

    Args:
        made: The plan.
        searched: What was found.
        verifications: Those of the documents, in the order in which these were found.
    """
    evidence = [classify(each, made.criteria) for each in verifications]
    if any(each.classification == "unverified" for each in evidence):
        evidence = await _with_shares(made.question, evidence)
    return EvidenceResult(
        question=made.question,
        plan=made,
        status=searched.status,
        evidence=ranked(evidence),
        degraded=(
            *((made.degraded,) if made.degraded is not None else ()),
            *searched.degraded,
            *_unverified(verifications),
        ),
        notes=(*made.notes, *searched.notes),
        usage=sum((each.usage for each in verifications), made.usage),
    )


async def _with_shares(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence, where unverified with its share of the best match's score."""
    documents = [each.document for each in evidence]
    scores = await to_thread.run_sync(scores_of, question, documents)
    best = max(scores) or 1.0
    return [
        each.model_copy(update={"score": score / best})
        if each.classification == "unverified"
        else each
        for each, score in zip(evidence, scores, strict=True)
    ]


def _unverified(verifications: Sequence[Verification]) -> tuple[str, ...]:
    """A line for each reason for which documents were not verified."""
    reasons = Counter(each.degraded for each in verifications if each.degraded is not None)
    return tuple(
        f"{number} of {len(verifications)} documents were not verified: {reason}"
        for reason, number in reasons.items()
    )
