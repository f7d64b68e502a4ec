"""Self-RAG's score of a passage, on numbers worked out by hand."""

import pytest
from pydantic import ValidationError

from sifaka.critics.self_rag import Reflection, Reflections


def reflection(relevant: float, full: float, partial: float, none: float) -> Reflection:
    return Reflection(passage=1, relevant=relevant, full=full, partial=partial, none=none)


@pytest.mark.parametrize(
    ("relevant", "support", "usefulness", "score"),
    [
        (1, (1, 0, 0), 5, 2.5),  # 1 + 1 + 0.5 * 1
        (0, (0, 0, 1), 1, -0.5),  # 0 + 0 + 0.5 * -1
        (0.8, (0.5, 0.3, 0.2), 3.6, 1.6),  # .8 + .65 + .5 * .3
        (0.8, (50, 30, 20), 3.6, 1.6),  # the same, not normalised
        (0.5, (0, 1, 0), 3, 1.0),  # .5 + .5 + 0
        (1, (0, 0, 1), 3, 1.0),
        (0.5, (0.001, 0.001, 0.001), 4, 1.25),  # .5 + .5 + .5 * .5
    ],
)
def test_the_score_is_the_weighted_sum_of_its_parts(
    relevant: float, support: tuple[float, float, float], usefulness: float, score: float
) -> None:
    passage = reflection(relevant, *support)
    answer = Reflections(passages=[passage], usefulness=usefulness)
    assert answer.score(passage) == pytest.approx(score)


def test_the_likeliest_degree_of_support_counts() -> None:
    assert reflection(1, 0.6, 0.3, 0.1).supports == "full"
    assert reflection(1, 0.3, 0.6, 0.1).supports == "partial"
    assert reflection(1, 0.1, 0.3, 0.6).supports == "none"
    assert reflection(1, 0.4, 0.4, 0.2).supports == "partial", "of equal ones the lower"
    assert reflection(0.5, 1, 0, 0).is_relevant
    assert not reflection(0.49, 1, 0, 0).is_relevant


@pytest.mark.parametrize("each", [0, 1e308])
def test_probabilities_that_have_no_sum_say_nothing(each: float) -> None:
    with pytest.raises(ValidationError, match="must add up to 1"):
        reflection(1, each, each, each)
