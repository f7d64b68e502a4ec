"""The table of classes, the score and the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import (
    Assessment,
    Classification,
    Criterion,
    Evidence,
    Judgement,
    Verification,
    classify,
    ranked,
    weighted,
)

DOCUMENT = SourceDocument(text="Words.")
WORDS: dict[str, Judgement] = {
    "yes": "support",
    "some": "somewhat_support",
    "no": "reject",
    "?": "insufficient_information",
}


def classified(judged: str, types: str = "topic topic", weights: str = "60 40") -> Evidence:
    kinds = types.split(",") if "," in types else types.split()
    criteria = weighted(
        [Criterion(id=f"c{n}", type=kind) for n, kind in enumerate(kinds)],
        [float(weight) for weight in weights.split()[: len(kinds)]],
    )
    assessments = tuple(
        Assessment(criterion=f"c{n}", judgement=WORDS[word])
        for n, word in enumerate(judged.split())
    )
    return classify(Verification(document=DOCUMENT, assessments=assessments), criteria)


@pytest.mark.parametrize(
    ("judged", "types", "expected"),
    [
        ("yes yes", "topic topic", "perfect"),
        ("yes", "topic", "perfect"),
        ("yes yes", "topic time", "perfect"),
        ("yes some", "topic topic", "partial"),
        ("some some", "topic topic", "partial"),
        ("some no", "topic topic", "partial"),
        ("no some", "topic topic", "partial"),
        ("some ?", "topic topic", "partial"),
        ("yes no", "topic time", "partial"),
        ("some yes", "topic time", "partial"),
        ("no no", "topic topic", "reject"),
        ("? ?", "topic topic", "reject"),
        ("no ?", "topic topic", "reject"),
        ("no yes", "topic time", "reject"),
        ("? yes", "topic time", "reject"),
        ("no some", "topic time", "reject"),
        ("yes", "time", "perfect"),
        ("yes yes", "time time", "perfect"),
        ("yes some", "time time", "reject"),
        ("", "topic topic", "reject"),
        ("yes", "topic topic", "partial"),
    ],
)
def test_the_class_follows_the_table(judged: str, types: str, expected: Classification) -> None:
    assert classified(judged, types).classification == expected


@pytest.mark.parametrize("kind", ["time", "Time ", " TIME ", "time\t"])
def test_only_time_criteria_pass_is_reject_however_the_type_is_written(kind: str) -> None:
    assert classified("no yes", f"topic,{kind}").classification == "reject"


@pytest.mark.parametrize(
    ("judged", "score"),
    [
        ("yes yes", 1.0),
        ("yes no", 0.6),
        ("some yes", 0.7),
        ("some some", 0.5),
        ("no some", 0.2),
        ("? no", 0.0),
    ],
)
def test_the_score_is_the_weight_times_1_for_support_and_half_for_somewhat(
    judged: str, score: float
) -> None:
    assert classified(judged).score == pytest.approx(score)


@given(
    st.lists(
        st.tuples(st.sampled_from(["yes", "some", "no", "?"]), st.floats(0, 1e6)),
        min_size=1,
        max_size=4,
    )
)
def test_the_score_is_at_most_1_and_1_where_perfect(judged: list[tuple[str, float]]) -> None:
    evidence = classified(
        " ".join(word for word, _ in judged),
        " ".join("topic" for _ in judged),
        " ".join(str(weight) for _, weight in judged),
    )
    assert 0 <= evidence.score <= 1
    assert evidence.score == 1 or evidence.classification != "perfect"


def test_weights_that_do_not_add_up_to_1_still_give_at_most_1() -> None:
    criteria = [Criterion(id="a"), Criterion(id="b")]
    assessments = tuple(Assessment(criterion=each.id, judgement="support") for each in criteria)
    verification = Verification(document=DOCUMENT, assessments=assessments)
    assert classify(verification, criteria).score == 1.0


def test_what_could_not_be_verified_is_unverified_and_not_rejected() -> None:
    verification = Verification(document=DOCUMENT, degraded="the model is down")
    evidence = classify(verification, [Criterion(id="a")])
    assert (evidence.classification, evidence.score) == ("unverified", 0.0)
    assert evidence.degraded == "the model is down"


def test_the_order_is_class_then_score_and_what_is_equal_keeps_its_place() -> None:
    def of(name: str, classification: Classification, score: float) -> Evidence:
        document = SourceDocument(text="", title=name)
        return Evidence(document=document, classification=classification, score=score)

    given = [
        of("rejected", "reject", 0.9),
        of("unverified", "unverified", 1.0),
        of("partial low", "partial", 0.2),
        of("partial first", "partial", 0.8),
        of("partial second", "partial", 0.8),
        of("perfect", "perfect", 1.0),
    ]
    assert [each.document.title for each in ranked(given)] == [
        "perfect",
        "partial first",
        "partial second",
        "partial low",
        "unverified",
        "rejected",
    ]
