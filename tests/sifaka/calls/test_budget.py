"""Budgets: what is set aside before a call, and the limits of parts of a run's work."""

import anyio
import pytest

from sifaka.calls.ledger import Ledger, Quote
from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage
from tests.stubs.clock import Clock


def test_calls_count_before_they_are_settled_and_after_a_resume() -> None:
    ledger = Ledger(Budget(max_calls=2), Usage())
    ledger.reserve()
    ledger.reserve()
    with pytest.raises(BudgetExceeded) as error:
        ledger.reserve()
    assert error.value.limit == "calls"

    ledger = Ledger(Budget(max_calls=3), Usage(model_calls=3))
    with pytest.raises(BudgetExceeded):
        ledger.reserve()


def test_tokens_are_input_and_output_and_too_few_for_an_answer_are_not_bought() -> None:
    ledger = Ledger(Budget(max_tokens=100), Usage())
    ledger.settle(ledger.reserve(), Usage(model_calls=1, input_tokens=60, output_tokens=40))
    assert ledger.exhausted() == "tokens"
    ledger = Ledger(Budget(max_tokens=300), Usage())
    with pytest.raises(BudgetExceeded):
        ledger.reserve(Quote(input_tokens=100, output_tokens=1000))
    assert ledger.reserve(Quote(input_tokens=100, output_tokens=50)).output_tokens == 50


def test_tokens_in_flight_are_set_aside_for_parallel_calls() -> None:
    ledger = Ledger(Budget(max_tokens=1000), Usage())
    first = ledger.reserve(Quote(input_tokens=100, output_tokens=500))
    second = ledger.reserve(Quote(input_tokens=100, output_tokens=500))
    assert first.output_tokens == 500 > second.output_tokens
    assert second.output_tokens == 300, "what is left after the first is set aside"
    with pytest.raises(BudgetExceeded) as error:
        ledger.reserve(Quote(input_tokens=100, output_tokens=500))
    assert error.value.limit == "tokens"
    ledger.settle(first, Usage(model_calls=1, input_tokens=90, output_tokens=10))
    assert ledger.reserve(Quote(input_tokens=100, output_tokens=400)).output_tokens == 400


def test_money_is_set_aside_at_the_models_price() -> None:
    ledger = Ledger(Budget(max_cost_usd=1.0), Usage())
    dear = Quote(input_tokens=1, output_tokens=4000, input_cost=0.2, output_cost=0.0001)
    assert ledger.reserve(dear).cost_usd == pytest.approx(0.6)
    second = ledger.reserve(dear)
    assert second.output_tokens < 4000
    assert second.cost_usd == pytest.approx(0.4, abs=0.0002)
    with pytest.raises(BudgetExceeded) as error:
        ledger.reserve(dear)
    assert error.value.limit == "cost"


def test_a_model_without_a_price_makes_one_call_and_none_beside_it() -> None:
    unpriced = Quote(input_cost=None)
    ledger = Ledger(Budget(max_cost_usd=1.0), Usage())
    reserved = ledger.reserve(unpriced)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(unpriced)
    ledger.settle(reserved, Usage(model_calls=1, cost_usd=None))
    with pytest.raises(BudgetExceeded):
        ledger.reserve(Quote(input_cost=0.01))
    with pytest.raises(BudgetExceeded):
        Ledger(Budget(max_cost_usd=0), Usage()).reserve(unpriced)


def test_calls_set_aside_are_there_for_whoever_set_them_aside_and_nobody_else() -> None:
    ledger = Ledger(Budget(max_calls=3), Usage())
    with ledger.set_aside(2):
        ledger.reserve()
        assert ledger.calls_left == 1, "one is used, one is still set aside, one is free"
        ledger.reserve()
        ledger.reserve()
        with pytest.raises(BudgetExceeded):
            ledger.reserve()


def test_what_was_set_aside_and_not_used_goes_back() -> None:
    ledger = Ledger(Budget(max_calls=3), Usage())
    with ledger.set_aside(3):
        with ledger.set_aside(2):
            assert ledger.calls_left == 0
            ledger.reserve()
        assert ledger.calls_left == 0, "what the inner one left belongs to the outer one"
        with pytest.raises(BudgetExceeded), ledger.set_aside(3):
            pytest.fail("there are two calls left")
    assert ledger.calls_left == 2


def test_nothing_is_set_aside_beyond_what_there_is_nor_of_another_ledger() -> None:
    ledger = Ledger(Budget(max_calls=3), Usage())
    with pytest.raises(BudgetExceeded), ledger.set_aside(4):
        pytest.fail("there is no room")
    assert ledger.calls_left == 3
    outer, inner = Ledger(Budget(), Usage()), Ledger(Budget(max_calls=0), Usage())
    with outer.set_aside(5), pytest.raises(BudgetExceeded):
        inner.reserve()
    whole = Ledger(Budget(max_calls=9), Usage())
    with pytest.raises(BudgetExceeded), whole.part(Budget(max_calls=2)).set_aside(3):
        pass
    assert whole.calls_left == 9


@pytest.mark.anyio
async def test_tasks_share_what_their_parent_has_set_aside() -> None:
    ledger = Ledger(Budget(max_calls=5), Usage())
    refused: list[BudgetExceeded] = []

    async def call() -> None:
        try:
            ledger.reserve()
        except BudgetExceeded as error:
            refused.append(error)

    with ledger.set_aside(3):
        async with anyio.create_task_group() as group:
            for _ in range(7):
                group.start_soon(call)
    assert (len(refused), ledger.calls_left) == (2, 0)


def test_seconds_run_with_the_clock_and_across_resumes() -> None:
    clock = Clock()
    ledger = Ledger(Budget(max_seconds=10), Usage(seconds=4), clock=clock)
    clock.now = 5.0
    assert ledger.seconds_left == 1.0
    clock.now = 6.5
    assert ledger.exhausted() == "seconds"


def test_an_unknown_price_is_none_and_stays_none() -> None:
    ledger = Ledger(Budget(), Usage())
    ledger.settle(ledger.reserve(), Usage(model_calls=1, cost_usd=None))
    ledger.settle(ledger.reserve(), Usage(model_calls=1, cost_usd=0.5))
    assert ledger.spent.cost_usd is None
    assert ledger.spent.model_calls == 2


ONE_CALL = Usage(model_calls=1, input_tokens=10, output_tokens=10)


def test_what_a_part_spends_counts_for_the_whole_and_what_it_spent_before_for_it_alone() -> None:
    whole = Ledger(Budget(max_calls=3), Usage())
    part = whole.part(Budget(max_calls=2))
    part.settle(part.reserve(), ONE_CALL)
    part.charge(ONE_CALL)
    assert (part.spent.model_calls, whole.spent.model_calls) == (2, 2)
    assert (part.exhausted(), whole.exhausted()) == ("calls", None)

    whole = Ledger(Budget(), Usage(model_calls=3))
    part = whole.part(Budget(max_calls=3), Usage(model_calls=2))
    part.reserve()
    assert part.exhausted() == "calls"
    assert whole.spent.model_calls == 3


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


def test_the_shorter_of_both_limits_clips_an_answer() -> None:
    whole = Ledger(Budget(max_tokens=1000), Usage())
    part = whole.part(Budget(max_tokens=5000))
    reservation = part.reserve(Quote(input_tokens=100, output_tokens=2000))
    assert reservation.output_tokens == 900
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


def test_a_call_of_a_part_stays_within_every_limit_the_stricter_one_each() -> None:
    whole = Ledger(Budget(max_tokens=1000, max_calls=2, max_cost_usd=1.0), Usage())
    part = whole.part(Budget(max_tokens=5000, max_calls=1)).part(Budget())
    assert part.limits == Budget(max_tokens=1000, max_calls=1, max_cost_usd=1.0)
    assert whole.limits == whole.budget
