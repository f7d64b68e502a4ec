"""Weights of criteria."""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import permutations
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.evidence.model import Criterion, weighted


def weights_of(given: Sequence[float]) -> list[float]:
    criteria = [Criterion(id=f"c{n}") for n in range(len(given))]
    return [each.weight for each in weighted(criteria, given)]


anything = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=5e-324, max_value=1e-300),
    st.floats(min_value=1e300, allow_infinity=False),
    st.integers(-1_000, 1_000),
)


@given(st.lists(anything, min_size=1, max_size=4))
def test_weights_sum_to_exactly_1_in_any_order_whatever_was_given(given: list[float]) -> None:
    weights = weights_of(given)
    assert all(reduce(add, order) == 1.0 for order in permutations(weights))
    assert sum(weights) == math.fsum(weights) == 1.0
    assert all(0 <= weight <= 1 for weight in weights)


@given(st.lists(st.floats(min_value=0, max_value=1e308), min_size=5, max_size=40))
def test_weights_of_many_criteria_sum_to_exactly_1_too(given: list[float]) -> None:
    assert reduce(add, weights_of(given)) == 1.0


@given(st.lists(st.floats(min_value=0.001, max_value=1000), min_size=1, max_size=4))
def test_weights_keep_their_proportions(given: list[float]) -> None:
    weights = weights_of(given)
    for weight, told in zip(weights, given, strict=True):
        assert weight == pytest.approx(told / sum(given), abs=1e-15, rel=1e-12)


def test_60_and_40_are_exactly_6_and_4_tenths() -> None:
    assert weights_of([60, 40]) == [0.6, 0.4]
    assert weights_of([70.0, 30.0]) == [0.7, 0.3]
    assert weights_of([0.6, 0.4]) == [0.6, 0.4]


@pytest.mark.parametrize("given", [[0.0, 0.0], [-1.0, -5.0], [0.0, -1.0]])
def test_weights_that_are_all_zero_or_less_are_equal(given: list[float]) -> None:
    assert weights_of(given) == [0.5, 0.5]


def test_huge_and_tiny_weights_neither_overflow_nor_loop() -> None:
    assert weights_of([1e308, 1e308]) == [0.5, 0.5]
    assert weights_of([5e-324, 5e-324]) == [0.5, 0.5]
    assert weights_of([1e308, 5e-324]) == [1.0, 0.0]


def test_no_criteria_have_no_weights() -> None:
    assert weighted([], []) == ()


@pytest.mark.parametrize("kind", ["time", "Time ", " TIME", "tIme\n"])
def test_the_type_compares_without_case_and_space(kind: str) -> None:
    assert Criterion(id="c", type=kind).is_about_time
    assert not Criterion(id="c", type=f"{kind}s").is_about_time
