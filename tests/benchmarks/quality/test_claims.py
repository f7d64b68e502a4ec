"""The rules alone are right on the labelled claims, and the claims are as they are told."""

import pytest

from benchmarks.quality.claims.attacks import attacked
from benchmarks.quality.claims.judges import HONEST, JUDGES
from benchmarks.quality.claims.labelled import SetName, load
from benchmarks.quality.claims.measure import judged, of

pytestmark = pytest.mark.anyio
SETS: tuple[SetName, ...] = ("tuning", "held_out")


@pytest.mark.parametrize("name", SETS)
async def test_the_rules_alone_are_never_wrong_and_support_what_stands_there(name: SetName) -> None:
    near, own = [await judged(load(name, near=each), None) for each in (True, False)]
    for found in (near, own):
        assert of(found, "supported", is_true=False) == 0
        assert of(found, "contradicted", is_true=True) == 0
    assert of(near, "supported", kind="verbatim") == of(near, kind="verbatim") == 20
    assert of(near, "supported", kind="reworded") >= 12
    assert of(near, "contradicted", kind="number") == of(near, kind="number") == 10


@pytest.mark.parametrize("name", SETS)
async def test_a_judge_who_supports_all_gets_no_near_miss_through(name: SetName) -> None:
    found = await judged(load(name, near=True), JUDGES["supports, nearest sentence"])
    assert of(found, "supported", is_true=False) == 0
    assert of(found, "supported", is_true=True) == 40


@pytest.mark.parametrize("name", SETS)
async def test_of_true_claims_at_most_a_tenth_is_refused(name: SetName) -> None:
    found = await judged(load(name), JUDGES[HONEST])
    assert of(found, "supported", is_true=True) >= 0.9 * of(found, is_true=True)
    assert of(found, "supported", is_true=False) == 0


@pytest.mark.parametrize("near", [False, True])
def test_no_claim_is_in_both_halves_and_each_sentence_stands_in_its_document(near: bool) -> None:
    halves = [load(name, near=near) for name in SETS]
    one, other = ({claim.claim for page in half for claim in page.claims} for half in halves)
    assert not one & other
    for page in (page for half in halves for page in half):
        for claim in page.claims:
            assert claim.sentence in page.text
            assert (claim.kind == "verbatim") == (claim.claim == claim.sentence)


@pytest.mark.parametrize(
    ("name", "most_false", "most_refused"),
    [("first", 0.04, 0.1), ("second", 0.11, 0.1), ("third", 0.12, 0.1), ("fourth", 0.3, 0.1)],
)
def test_a_claim_one_word_away_seldom_stands_whatever_is_quoted_for_it(
    name: str, most_false: float, most_refused: float
) -> None:
    found = attacked(name)
    assert found.false >= 50
    assert len(found.supported) <= most_false * found.false, found.supported
    assert len(found.refused) <= most_refused * found.true, found.refused
    assert not found.wrong
