"""Turns on the event loop."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from sifaka._internal.event_loop_turns import turn

pytestmark = pytest.mark.anyio
ANSWER = 3
"""Rounds of the loop in which an answer goes from its socket to the store."""


async def test_an_answer_that_comes_is_seen_to_before_the_next_of_many_that_compute() -> None:
    happened = list[str]()

    async def compute() -> None:
        await turn()
        happened.append("computed")

    async def answer() -> None:
        for _ in range(ANSWER):
            await checkpoint()
        happened.append("answered")

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(compute)
        group.start_soon(answer)
    assert happened.index("answered") <= 1
    assert happened.count("computed") == 20


async def test_turns_are_taken_in_the_order_in_which_they_were_asked_for() -> None:
    order = list[int]()

    async def compute(number: int) -> None:
        await turn()
        order.append(number)

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(compute, number)
    assert order == [0, 1, 2, 3, 4]


async def test_a_task_that_is_cancelled_while_it_waits_keeps_no_other_waiting() -> None:
    computed = list[str]()

    async def compute(name: str) -> None:
        await turn()
        computed.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(compute, "first")
        async with anyio.create_task_group() as cancelled:
            for _ in range(3):
                cancelled.start_soon(compute, "cancelled")
            await checkpoint()
            cancelled.cancel_scope.cancel()
        group.start_soon(compute, "last")
    assert computed[0] == "first"
    assert computed[-1] == "last"


async def test_alone_nothing_is_waited_for() -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await turn()  # a wait would be cancelled
        return
    pytest.fail("it waited")
