"""Self-RAG's score of a passage, on numbers worked out by hand."""

import pytest
from pydantic import ValidationError

from sifaka.critics.reflections import Reflection, passage_score

NEUTRAL = (0.0, 0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("relevance", "support", "usefulness", "score"),
    [
        ((1, 0), (1, 0, 0), (0, 0, 0, 0, 1), 2.5),  # 1 + 1 + 0.5 * 1
        ((0, 1), (0, 0, 1), (1, 0, 0, 0, 0), -0.5),  # 0 + 0 + 0.5 * -1
        ((0.8, 0.2), (0.5, 0.3, 0.2), (0.1, 0.1, 0.2, 0.3, 0.3), 1.6),  # .8 + .65 + .5 * .3
        ((4, 1), (5, 3, 2), (1, 1, 2, 3, 3), 1.6),  # the same, not normalised
        ((1, 1), (0, 1, 0), NEUTRAL, 1.0),  # .5 + .5 + 0
        ((1, 0), (0, 0, 1), NEUTRAL, 1.0),
        ((1e308, 1e308), (1e308, 1e308, 1e308), (1e308,) * 5, 1.0),  # .5 + .5 + 0
    ],
)
def test_the_score_is_the_weighted_sum_of_its_parts(
    relevance: tuple[float, float],
    support: tuple[float, float, float],
    usefulness: tuple[float, float, float, float, float],
    score: float,
) -> None:
    assert passage_score(relevance, support, usefulness) == pytest.approx(score)


def reflection(relevant: float, full: float, partial: float, none: float) -> Reflection:
    return Reflection.model_validate(
        {
            "relevance": {"relevant": relevant, "irrelevant": 1 - relevant},
            "support": {"full": full, "partial": partial, "none": none},
            "usefulness": {"one": 0, "two": 0, "three": 1, "four": 0, "five": 0},
        }
    )


def test_the_likeliest_degree_of_support_counts() -> None:
    assert reflection(1, 0.6, 0.3, 0.1).supports == "full"
    assert reflection(1, 0.3, 0.6, 0.1).supports == "partial"
    assert reflection(1, 0.1, 0.3, 0.6).supports == "none"
    assert reflection(1, 0.4, 0.4, 0.2).supports == "partial", "of equal ones the lower"
    assert reflection(0.5, 1, 0, 0).is_relevant
    assert not reflection(0.49, 1, 0, 0).is_relevant


def test_probabilities_that_are_all_zero_say_nothing() -> None:
    with pytest.raises(ValidationError, match="must not all be zero"):
        reflection(1, 0, 0, 0)
