"""A part of a run's work has limits of its own besides those of the whole."""

import pytest

from sifaka.calls.ledger import Ledger, Quote
from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage
from tests.sifaka.calls.test_budget import Clock

ONE_CALL = Usage(model_calls=1, input_tokens=10, output_tokens=10)


def test_what_a_part_spends_is_spent_by_the_whole() -> None:
    whole = Ledger(Budget(max_calls=3), Usage())
    part = whole.part(Budget(max_calls=2))
    part.settle(part.reserve(), ONE_CALL)
    part.charge(ONE_CALL)
    assert (part.spent.model_calls, whole.spent.model_calls) == (2, 2)
    assert (part.exhausted(), whole.exhausted()) == ("calls", None)


def test_a_part_stops_at_its_own_limit_and_others_go_on() -> None:
    whole = Ledger(Budget(), Usage())
    part, other = whole.part(Budget(max_calls=1)), whole.part(Budget(max_calls=1))
    part.reserve()
    with pytest.raises(BudgetExceeded) as error:
        part.reserve()
    assert error.value.limit == "calls"
    other.reserve()


def test_the_whole_caps_all_parts_together() -> None:
    whole = Ledger(Budget(max_calls=3), Usage())
    parts = [whole.part(Budget(max_calls=2)) for _ in range(2)]
    for part in (*parts, parts[0]):
        part.reserve()
    with pytest.raises(BudgetExceeded):
        parts[1].reserve()
    assert parts[1].exhausted() == "calls"


def test_what_the_whole_refuses_is_not_set_aside_in_the_part() -> None:
    whole = Ledger(Budget(max_calls=1), Usage())
    part = whole.part(Budget(max_calls=5))
    held = whole.reserve()
    with pytest.raises(BudgetExceeded):
        part.reserve()
    whole.settle(held, Usage())
    for _ in range(2):
        part.settle(part.reserve(), Usage())


def test_calls_set_aside_for_a_part_are_there_although_the_whole_has_no_others() -> None:
    whole = Ledger(Budget(max_calls=2), Usage())
    part = whole.part(Budget(max_calls=2))
    with part.set_aside(2):
        assert whole.calls_left == 0
        part.reserve()
        part.reserve()
    with pytest.raises(BudgetExceeded):
        part.reserve()


def test_a_part_sets_nothing_aside_beyond_its_own_limit() -> None:
    whole = Ledger(Budget(max_calls=9), Usage())
    with pytest.raises(BudgetExceeded), whole.part(Budget(max_calls=2)).set_aside(3):
        pass
    assert whole.calls_left == 9


def test_the_shorter_of_both_limits_clips_an_answer() -> None:
    whole = Ledger(Budget(max_tokens=1000), Usage())
    part = whole.part(Budget(max_tokens=5000))
    reservation = part.reserve(Quote(input_tokens=100, output_tokens=2000))
    assert (reservation.usage.output_tokens, reservation.clipped) == (900, True)
    part.settle(reservation, ONE_CALL)
    assert part.exhausted() is None
    assert part.spent.output_tokens == whole.spent.output_tokens == 10


def test_time_is_over_when_either_has_none_left() -> None:
    clock = Clock()
    whole = Ledger(Budget(max_seconds=10), Usage(), clock=clock)
    part = whole.part(Budget(max_seconds=4))
    assert part.seconds_left == 4
    clock.now = 5
    assert (part.seconds_left, whole.seconds_left) == (0, 5)
    late = whole.part(Budget(max_seconds=100))
    assert late.seconds_left == 5


def test_while_a_part_waits_no_time_passes_for_the_whole() -> None:
    clock = Clock()
    whole = Ledger(Budget(max_seconds=10), Usage(), clock=clock)
    part = whole.part(Budget(max_seconds=4))
    with part.waiting():
        clock.now = 100
    assert (part.seconds_left, whole.seconds_left) == (4, 10)


def test_what_a_part_has_spent_before_counts_for_it_alone() -> None:
    whole = Ledger(Budget(), Usage(model_calls=3))
    part = whole.part(Budget(max_calls=3), Usage(model_calls=2))
    part.reserve()
    assert part.exhausted() == "calls"
    assert whole.spent.model_calls == 3


def test_a_call_of_a_part_stays_within_every_limit_the_stricter_one_each() -> None:
    whole = Ledger(Budget(max_tokens=1000, max_calls=2, max_cost_usd=1.0), Usage())
    part = whole.part(Budget(max_tokens=5000, max_calls=1)).part(Budget())
    assert part.limits == Budget(max_tokens=1000, max_calls=1, max_cost_usd=1.0)
    assert whole.limits == whole.budget
