"""The call of a writer goes to that writer alone."""

import pytest

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage
from sifaka.research.progress import SectionBudget, leaving_one, share_out
from sifaka.research.state import in_order, stop_of

ONE = Usage(model_calls=1)


def ledger(**limits: float) -> Ledger:
    return Ledger(Budget.model_validate(limits), Usage())


def only(budgets: tuple[SectionBudget, ...]) -> SectionBudget:
    (budget,) = budgets
    return budget


def call(account: Ledger) -> None:
    account.settle(account.reserve(), ONE)


def test_the_call_of_a_writer_is_not_taken_by_another_section() -> None:
    account = ledger(max_calls=2)
    first, second = share_out(Calls(ledger=account), None, [Usage()] * 2, besides=0)
    with pytest.raises(BudgetExceeded):
        call(first.looping.ledger)
    call(first.writing.ledger)
    with pytest.raises(BudgetExceeded):
        call(first.writing.ledger)
    call(second.writing.ledger)
    assert account.spent.model_calls == 2


def test_as_many_writers_have_their_call_as_there_is_room_for() -> None:
    account = ledger(max_calls=2)
    budgets = share_out(Calls(ledger=account), None, [Usage()] * 4, besides=1)
    assert [each.looping.ledger.calls_left for each in budgets] == [0] * 4
    for each in budgets[:2]:
        call(each.writing.ledger)
    with pytest.raises(BudgetExceeded):
        call(budgets[2].writing.ledger)


def test_the_last_call_is_left_to_the_summary() -> None:
    account = ledger(max_calls=2)
    calls = leaving_one(Calls(ledger=account))
    call(calls.ledger)
    with pytest.raises(BudgetExceeded):
        call(calls.ledger)
    call(account)
    assert leaving_one(Calls(ledger=account)).ledger.calls_left == 0


def test_the_loop_of_a_section_leaves_its_writer_one_of_its_own_calls() -> None:
    account = ledger()
    budget = only(share_out(Calls(ledger=account), Budget(max_calls=3), [Usage()], besides=0))
    for _ in range(2):
        call(budget.looping.ledger)
    with pytest.raises(BudgetExceeded):
        call(budget.looping.ledger)
    call(budget.writing.ledger)
    with pytest.raises(BudgetExceeded):
        call(budget.writing.ledger)
    assert account.spent.model_calls == 3


def test_the_loop_of_a_section_leaves_its_writer_a_quarter_of_its_tokens() -> None:
    account = ledger(max_tokens=8_000)
    budgets = share_out(Calls(ledger=account), None, [Usage(), Usage()], besides=0)
    assert [each.looping.ledger.tokens_left for each in budgets] == [3_000, 3_000]
    loop = budgets[0].looping.ledger
    loop.settle(loop.reserve(), Usage(model_calls=1, input_tokens=3_000))
    assert loop.exhausted() == "tokens"
    assert budgets[0].writing.ledger.exhausted() is None


def test_the_loop_of_a_section_leaves_its_writer_a_quarter_of_its_money() -> None:
    account = ledger(max_cost_usd=8)
    budgets = share_out(Calls(ledger=account), None, [Usage(), Usage()], besides=0)
    assert [each.looping.ledger.cost_left for each in budgets] == [3.0, 3.0]
    loop = budgets[0].looping.ledger
    loop.settle(loop.reserve(), Usage(model_calls=1, cost_usd=3.0))
    assert loop.exhausted() == "cost"
    assert budgets[1].looping.ledger.exhausted() is None
    assert budgets[0].writing.ledger.exhausted() is None
    assert budgets[0].writing.ledger.cost_left == 5.0


def test_after_a_call_without_a_known_price_no_money_is_left() -> None:
    account = ledger(max_cost_usd=8)
    account.settle(account.reserve(), Usage(model_calls=1, cost_usd=None))
    assert account.cost_left == 0.0


def test_what_a_section_has_spent_before_is_taken_off() -> None:
    calls, spent = Calls(ledger=ledger()), Usage(model_calls=2)
    budget = only(share_out(calls, Budget(max_calls=4), [spent], besides=0))
    assert budget.looping.ledger.calls_left == 1


def test_shares_are_equal_and_leave_what_is_kept() -> None:
    account = ledger(max_calls=11)
    budgets = share_out(Calls(ledger=account), None, [Usage()] * 3, besides=1)
    assert [each.looping.ledger.calls_left for each in budgets] == [2, 2, 2]
    assert account.calls_left == 11


def test_a_loop_without_calls_may_still_make_searches() -> None:
    calls = Calls(ledger=ledger(max_calls=0))
    budget = only(share_out(calls, None, [Usage()], besides=0))
    with budget.looping.ledger.set_aside(0):
        pass


def test_reasons_are_told_in_the_order_tokens_time_iterations() -> None:
    assert in_order(["cost", "calls", "iterations", "time", "tokens", "time"]) == (
        "tokens", "time", "iterations", "calls", "cost",
    )  # fmt: skip
    assert stop_of(BudgetExceeded("seconds")) == "time"
