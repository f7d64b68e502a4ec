"""Answers of sources other than models are on record before their use, and asked for once."""

import pytest

from sifaka.calls.context import Calls, Journal, recorded, scope
from sifaka.calls.ledger import Ledger
from sifaka.errors import SifakaError
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage

pytestmark = pytest.mark.anyio


class Source:
    def __init__(self) -> None:
        self.asked = 0

    async def answer(self) -> str:
        self.asked += 1
        return f"answer {self.asked}"


def calls(known: list[Called], *, replaying: bool = False) -> Calls:
    async def keep(call: Called) -> None:
        known.append(call)

    ledger = Ledger(Budget(), Usage())
    return Calls(ledger=ledger, journal=Journal(known, keep), replaying=replaying)


async def test_answers_on_record_are_taken_for_the_same_request_of_the_run_alone() -> None:
    source, known = Source(), list[Called]()
    for _ in range(2):
        with calls(known).active(), scope("search"):
            assert await recorded("wiki", {"q": "x"}, source.answer) == "answer 1"
    assert (source.asked, len(known), known[0].model) == (1, 1, "wiki")
    source, known = Source(), list[Called]()
    for query in ("x", "y"):
        with calls(known).active(), scope("search"):
            await recorded("wiki", {"q": query}, source.answer)
    assert source.asked == 2
    source = Source()
    assert await recorded("wiki", {}, source.answer) == "answer 1"
    assert await recorded("wiki", {}, source.answer) == "answer 2"


async def test_a_run_that_is_gone_through_again_asks_nobody() -> None:
    source = Source()
    with (
        calls([], replaying=True).active(),
        scope("search"),
        pytest.raises(SifakaError, match="not on record"),
    ):
        await recorded("wiki", {}, source.answer)
    assert source.asked == 0
