import pytest

from sifaka.budget import Budget, Ledger, current_ledger
from sifaka.errors import BudgetExceeded
from sifaka.results import Usage


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_reserved_calls_count_before_they_are_settled() -> None:
    ledger = Ledger(Budget(max_calls=2), Usage())
    ledger.reserve()
    ledger.reserve()
    with pytest.raises(BudgetExceeded) as error:
        ledger.reserve()
    assert error.value.limit == "calls"


def test_what_was_spent_before_a_resume_counts() -> None:
    ledger = Ledger(Budget(max_calls=3), Usage(model_calls=3))
    with pytest.raises(BudgetExceeded):
        ledger.reserve()


def test_tokens_are_input_and_output_together() -> None:
    ledger = Ledger(Budget(max_tokens=100), Usage())
    ledger.reserve()
    ledger.settle(Usage(model_calls=1, input_tokens=60, output_tokens=40))
    assert ledger.exhausted() == "tokens"


def test_seconds_run_with_the_clock_and_across_resumes() -> None:
    clock = Clock()
    ledger = Ledger(Budget(max_seconds=10), Usage(seconds=4), clock=clock)
    clock.now = 5.0
    assert ledger.seconds_left == 1.0
    clock.now = 6.5
    assert ledger.exhausted() == "seconds"


def test_an_unknown_price_is_none_and_stays_none() -> None:
    ledger = Ledger(Budget(), Usage())
    ledger.reserve()
    ledger.settle(Usage(model_calls=1, cost_usd=None))
    ledger.reserve()
    ledger.settle(Usage(model_calls=1, cost_usd=0.5))
    assert ledger.spent.cost_usd is None
    assert ledger.spent.model_calls == 2


def test_model_calls_find_the_ledger_of_their_run() -> None:
    ledger = Ledger(Budget(max_calls=1), Usage())
    with ledger.charged():
        assert current_ledger() is ledger
    assert current_ledger() is not ledger
