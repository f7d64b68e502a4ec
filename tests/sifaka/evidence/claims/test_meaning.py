"""Where an embedder is there, quoted words have to mean something near to the claim."""

import pytest

from sifaka.evidence.claims import EvidenceChecker
from sifaka.evidence.claims.meaning import FLOOR, means_something_else
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.claims import CheckOptions, ClaimVerdict
from sifaka.record.thought import Document
from tests.sifaka.critics.scripted_judge import ScriptedJudge
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
CLAIM = "In 1913 the doctor was sold in Skär."
CAR = "In 1913 the car was sold in Skär."
PHYSICIAN = "In 1913 the physician was sold in Skär."
STRICT = FLOOR._replace(contradicting=FLOOR.least)
AT_HAND = CheckOptions(search=False, max_age_seconds=0)


async def checked(source: str, quote: str, embedder: ConceptEmbedder | None) -> ClaimVerdict:
    """The verdict on the claim, by a judge who quotes this in its support."""
    judged = {"criterion": "claim-1", "judgement": "support", "quotes": [quote]}
    judge = ScriptedJudge({"judgements": [judged]})
    checker = EvidenceChecker(Adapters(embedder=embedder), judge.model)
    report = await checker.check(claims=[CLAIM], documents=[Document(text=source)], options=AT_HAND)
    return report.verdicts[0]


async def test_words_that_mean_something_else_support_nothing() -> None:
    verdict = await checked(CAR, CAR, ConceptEmbedder())
    assert verdict.verdict == "unverified"
    assert "speak about something else" in verdict.reason
    without = await checked(CAR, CAR, None)
    assert without.verdict == "supported", "the words alone do not tell them apart"


async def test_other_words_for_the_same_support_it() -> None:
    verdict = await checked(PHYSICIAN, PHYSICIAN, ConceptEmbedder())
    assert verdict.verdict == "supported"


async def test_a_contradiction_may_be_farther_from_its_claim_than_support() -> None:
    claim = "The doctor paid the price of the car in Skär in 1913."
    sentence = "The physician paid for a happy holiday in Skär in 1931."
    claimed, quoted = await ConceptEmbedder().embed([claim, sentence], role="document")
    cosine = sum(a * b for a, b in zip(claimed, quoted, strict=True))
    assert FLOOR.contradicting < cosine < FLOOR.least
    for least, far in ((FLOOR.least, True), (FLOOR.contradicting, False)):
        found = await means_something_else(
            claim, [sentence], [], ConceptEmbedder(), least=least, as_near=FLOOR.as_near
        )
        assert found is far


async def test_a_contradiction_is_held_to_the_floor_of_contradictions() -> None:
    claim = "The doctor paid the price of the car at the northern harbour of Skär in 1913."
    source = "The physician paid for a happy holiday at the northern harbour of Skär in 1931."
    judged = {
        "criterion": "claim-1", "judgement": "reject", "contradicts": True, "quotes": [source],
    }  # fmt: skip
    judge = ScriptedJudge({"judgements": [judged]})
    for floor, verdict in ((FLOOR, "contradicted"), (STRICT, "unverified")):
        adapters = Adapters(embedder=ConceptEmbedder())
        checker = EvidenceChecker(adapters, judge.model, floor=floor)
        report = await checker.check(
            claims=[claim], documents=[Document(text=source)], options=AT_HAND
        )
        assert report.verdicts[0].verdict == verdict


async def test_an_embedder_that_fails_is_as_none() -> None:
    embedder = ConceptEmbedder()
    embedder.failure = "out of memory"
    assert (await checked(CAR, CAR, embedder)).verdict == "supported"


async def test_a_sentence_that_is_much_farther_than_another_one_does_not_do() -> None:
    both = f"{PHYSICIAN} {CAR}"
    assert (await checked(both, CAR, ConceptEmbedder())).verdict == "unverified"
    assert (await checked(both, PHYSICIAN, ConceptEmbedder())).verdict == "supported"


async def test_a_verdict_is_not_taken_again_from_a_check_without_meaning() -> None:
    text, embedder = Document(text=CAR), ConceptEmbedder()
    judged = {"criterion": "claim-1", "judgement": "support", "quotes": [CAR]}
    judge, adapters = ScriptedJudge({"judgements": [judged]}), Adapters()
    verdicts: list[str] = []
    for each in (None, embedder):
        adapters.embedder = each
        checker = EvidenceChecker(adapters, judge.model)
        report = await checker.check(
            claims=[CLAIM], documents=[text], options=CheckOptions(search=False)
        )
        verdicts.append(report.verdicts[0].verdict)
    assert verdicts == ["supported", "unverified"]
