"""Strengths from comparisons."""

import pytest

from sifaka.critics.meta_rewarding import bradley_terry


@pytest.mark.parametrize(
    ("wins", "strengths"),
    [
        ([[0, 3], [1, 0]], (0.75, 0.25)),
        ([[0, 1], [1, 0]], (0.5, 0.5)),
        ([[0, 2, 4], [1, 0, 2], [1, 1, 0]], (4 / 7, 2 / 7, 1 / 7)),
        # A chain: 1 has beaten 0 in two games of three, and 2 has beaten 1 in three of four.
        ([[0, 1, 0], [2, 0, 1], [0, 3, 0]], (1 / 9, 2 / 9, 6 / 9)),
    ],
)
def test_strengths_are_the_likeliest(wins: list[list[float]], strengths: tuple[float, ...]) -> None:
    assert bradley_terry(wins, prior=0) == pytest.approx(strengths, abs=1e-6)


def test_one_win_is_no_certainty() -> None:
    # With half a win for each beforehand: 1.5 to 0.5.
    assert bradley_terry([[0, 1], [0, 0]]) == pytest.approx((0.75, 0.25), abs=1e-6)
    best, middle, worst = bradley_terry([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    assert best > middle > worst > 0.05


def test_a_circle_is_a_draw() -> None:
    circle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert bradley_terry(circle) == pytest.approx((1 / 3,) * 3, abs=1e-6)


def test_without_comparisons_all_are_equal() -> None:
    assert bradley_terry([[0.0] * 4 for _ in range(4)]) == pytest.approx((0.25,) * 4)
    assert bradley_terry([[0.0]]) == (1.0,)
