"""The arithmetic that the engine is held to, held to cases that are known by hand."""

import pytest

from benchmarks.quality.closed_forms import (
    gated,
    gated_with_look_back,
    limit,
    majority_of,
    naive,
    precision_and_recall,
)


def test_one_vote_is_as_right_as_the_judge() -> None:
    assert majority_of(1, 0.7) == pytest.approx(0.7)


def test_three_votes_are_right_when_two_of_them_are() -> None:
    assert majority_of(3, 0.7) == pytest.approx(3 * 0.7**2 * 0.3 + 0.7**3)


def test_votes_of_a_judge_who_tosses_a_coin_stay_a_coin() -> None:
    assert majority_of(5, 0.5) == pytest.approx(0.5)


def test_a_step_of_the_naive_loop_mends_and_harms() -> None:
    assert naive(0.5, 0.3, 0.1, 1) == pytest.approx(0.5 * 0.9 + 0.5 * 0.3)


def test_a_perfect_judge_lets_nothing_be_harmed() -> None:
    assert gated(1.0, 0.3, 0.9, 1.0, 5) == pytest.approx(1.0)


def test_a_judge_who_is_always_wrong_lets_nothing_be_mended() -> None:
    assert gated(0.0, 0.9, 0.1, 0.0, 5) == pytest.approx(0.0)


def test_many_steps_come_to_the_limit() -> None:
    assert gated(0.2, 0.3, 0.1, 0.7, 500) == pytest.approx(limit(0.3, 0.1, 0.7))


def test_the_look_back_after_one_step_is_what_it_is_by_hand() -> None:
    # Good inputs are lost when harmed (.1), taken (.3) and kept; bad ones are won when mended (.3),
    # taken (.7) and kept.
    assert gated_with_look_back(0.5, 0.3, 0.1, 0.7, 1) == pytest.approx(
        0.5 * (1 - 0.1 * 0.3 * 0.3) + 0.5 * 0.3 * 0.7 * 0.7
    )


def test_the_look_back_after_two_steps_is_what_it_is_by_hand() -> None:
    # A bad input, mended for sure: taken at once or at the second attempt, and kept in the end.
    assert gated_with_look_back(0.0, 1.0, 0.0, 0.8, 2) == pytest.approx((0.8 + 0.2 * 0.8) * 0.8)


def test_without_revisions_taken_there_is_nothing_to_look_back_at() -> None:
    assert gated_with_look_back(0.4, 0.0, 0.0, 1.0, 3) == pytest.approx(0.4)


def test_the_look_back_mends_what_was_harmed_more_often_than_not() -> None:
    rates = (1.0, 0.1, 0.5, 0.7, 5)
    assert gated_with_look_back(*rates) > gated(*rates)


def test_the_look_back_costs_where_revisions_mostly_help() -> None:
    rates = (0.0, 0.5, 0.1, 0.7, 5)
    assert gated_with_look_back(*rates) < gated(*rates)


def test_one_sample_has_the_precision_of_its_rates() -> None:
    precision, recall = precision_and_recall(1, 0.7, 0.2, 4, 6)

    assert precision == pytest.approx(4 * 0.7 / (4 * 0.7 + 6 * 0.2))
    assert recall == pytest.approx(0.7)


def test_nothing_reported_is_nothing_wrong() -> None:
    assert precision_and_recall(3, 0.0, 0.0, 4, 6) == (1.0, 0.0)
