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

BY_HAND = {
    "one vote is as right as the judge": (majority_of(1, 0.7), 0.7),
    "three are right when two of them are": (majority_of(3, 0.7), 3 * 0.7**2 * 0.3 + 0.7**3),
    "those of a judge who tosses a coin stay a coin": (majority_of(5, 0.5), 0.5),
    "a step of the naive loop mends and harms": (naive(0.5, 0.3, 0.1, 1), 0.5 * 0.9 + 0.5 * 0.3),
    "a perfect judge lets nothing be harmed": (gated(1.0, 0.3, 0.9, 1.0, 5), 1.0),
    "one who is always wrong lets nothing be mended": (gated(0.0, 0.9, 0.1, 0.0, 5), 0.0),
    "many steps come to the limit": (gated(0.2, 0.3, 0.1, 0.7, 500), limit(0.3, 0.1, 0.7)),
    # Good inputs are lost when harmed (.1), taken (.3) and kept; bad ones are won when mended (.3),
    # taken (.7) and kept.
    "the look back after one step": (
        gated_with_look_back(0.5, 0.3, 0.1, 0.7, 1),
        0.5 * (1 - 0.1 * 0.3 * 0.3) + 0.5 * 0.3 * 0.7 * 0.7,
    ),
    # A bad input, mended for sure: taken at once or at the second attempt, and kept in the end.
    "the look back after two": (
        gated_with_look_back(0.0, 1.0, 0.0, 0.8, 2),
        (0.8 + 0.2 * 0.8) * 0.8,
    ),
    "there is none where no revision was taken": (gated_with_look_back(0.4, 0, 0, 1.0, 3), 0.4),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_what_is_known_by_hand_comes_out(case: str) -> None:
    found, expected = BY_HAND[case]
    assert found == pytest.approx(expected)


def test_the_look_back_mends_what_was_harmed_and_costs_where_revisions_mostly_help() -> None:
    harmful, helpful = (1.0, 0.1, 0.5, 0.7, 5), (0.0, 0.5, 0.1, 0.7, 5)
    assert gated_with_look_back(*harmful) > gated(*harmful)
    assert gated_with_look_back(*helpful) < gated(*helpful)


def test_one_sample_has_the_precision_of_its_rates_and_nothing_reported_is_nothing_wrong() -> None:
    precision, recall = precision_and_recall(1, 0.7, 0.2, 4, 6)
    assert precision == pytest.approx(4 * 0.7 / (4 * 0.7 + 6 * 0.2))
    assert recall == pytest.approx(0.7)
    assert precision_and_recall(3, 0.0, 0.0, 4, 6) == (1.0, 0.0)
