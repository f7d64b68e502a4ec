"""A call that is kept for a writer goes to that writer alone."""

import math

import pytest

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage
from sifaka.research.limits import KeptCall, Purse, in_order, shared_out, stop_of

ONE = Usage(model_calls=1)


def ledger(**limits: float) -> Ledger:
    return Ledger(Budget.model_validate(limits), Usage())


def test_a_kept_call_is_not_taken_by_another() -> None:
    account = ledger(max_calls=2)
    call = KeptCall(account)
    account.settle(account.reserve(), ONE)
    with pytest.raises(BudgetExceeded):
        account.reserve()
    with call.within():
        account.settle(account.reserve(), ONE)
    assert account.spent.model_calls == 2


def test_a_kept_call_that_is_given_back_is_free() -> None:
    account = ledger(max_calls=1)
    call = KeptCall(account)
    assert account.calls_left == 0
    call.release()
    call.release()
    assert account.calls_left == 1


def test_as_many_calls_are_kept_as_there_is_room_for() -> None:
    account = ledger(max_calls=2)
    calls = [KeptCall(account) for _ in range(4)]
    assert [call.is_there for call in calls] == [True, True, False, False]
    for call in calls:
        call.release()
    assert account.calls_left == 2
    assert not KeptCall(ledger()).is_there


def test_the_loop_of_a_section_leaves_its_writer_one_of_its_own_calls() -> None:
    account = ledger()
    calls, kept = Calls(ledger=account), KeptCall(account)
    purse = Purse.of(calls, Budget(max_calls=3), spent=Usage(), share=math.inf, kept=kept)
    loop = purse.looping.ledger
    for _ in range(2):
        loop.settle(loop.reserve(), ONE)
    with pytest.raises(BudgetExceeded):
        loop.reserve()
    with purse.to_write():
        purse.writing.ledger.settle(purse.writing.ledger.reserve(), ONE)
    with pytest.raises(BudgetExceeded):
        purse.writing.ledger.reserve()
    assert account.spent.model_calls == 3


def test_the_loop_of_a_section_leaves_its_writer_a_quarter_of_its_tokens() -> None:
    account = ledger(max_tokens=8_000)
    purses, _ = shared_out(Calls(ledger=account), None, [Usage(), Usage()], besides=0)
    assert [purse.looping.ledger.tokens_left for purse in purses] == [3_000, 3_000]
    loop = purses[0].looping.ledger
    loop.settle(loop.reserve(), Usage(model_calls=1, input_tokens=3_000))
    assert loop.exhausted() == "tokens"
    with purses[0].to_write():
        assert purses[0].writing.ledger.exhausted() is None


def test_the_loop_of_a_section_leaves_its_writer_a_quarter_of_its_money() -> None:
    account = ledger(max_cost_usd=8)
    purses, _ = shared_out(Calls(ledger=account), None, [Usage(), Usage()], besides=0)
    assert [purse.looping.ledger.cost_left for purse in purses] == [3.0, 3.0]
    loop = purses[0].looping.ledger
    loop.settle(loop.reserve(), Usage(model_calls=1, cost_usd=3.0))
    assert loop.exhausted() == "cost"
    assert purses[1].looping.ledger.exhausted() is None
    with purses[0].to_write():
        assert purses[0].writing.ledger.exhausted() is None
        assert purses[0].writing.ledger.cost_left == 5.0


def test_after_a_call_without_a_known_price_no_money_is_left() -> None:
    account = ledger(max_cost_usd=8)
    account.settle(account.reserve(), Usage(model_calls=1, cost_usd=None))
    assert account.cost_left == 0.0


def test_what_a_section_has_spent_before_is_taken_off() -> None:
    account, spent = ledger(), Usage(model_calls=2)
    calls, kept = Calls(ledger=account), KeptCall(account)
    purse = Purse.of(calls, Budget(max_calls=4), spent=spent, share=math.inf, kept=kept)
    assert purse.looping.ledger.calls_left == 1


def test_shares_are_equal_and_leave_what_is_kept() -> None:
    account = ledger(max_calls=11)
    purses, (whole,) = shared_out(Calls(ledger=account), None, [Usage()] * 3, besides=1)
    assert whole.is_there
    assert [purse.looping.ledger.calls_left for purse in purses] == [2, 2, 2]
    for purse in purses:
        purse.kept.release()
    whole.release()
    assert account.calls_left == 11


def test_a_loop_without_calls_may_still_make_searches() -> None:
    purses, _ = shared_out(Calls(ledger=ledger(max_calls=0)), None, [Usage()], besides=0)
    with purses[0].looping.ledger.set_aside(0):
        pass


def test_reasons_are_told_in_the_order_tokens_time_iterations() -> None:
    assert in_order(["cost", "calls", "iterations", "time", "tokens", "time"]) == (
        "tokens", "time", "iterations", "calls", "cost",
    )  # fmt: skip
    assert stop_of(BudgetExceeded("seconds")) == "time"
