"""Branches whose results come when they are there."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial

import anyio
import pytest

from sifaka.calls.context import current_calls
from sifaka.calls.host import HostQuestion, Suspended
from sifaka.evidence.verify import as_completed
from tests.sifaka.evidence.recording import recording

pytestmark = pytest.mark.anyio

Branches = dict[str, Callable[[], Awaitable[str]]]


async def say(word: str) -> str:
    return word


async def never() -> str:
    await anyio.sleep_forever()
    return ""


async def fail(error: BaseException) -> str:
    raise error


async def test_results_come_with_their_numbers() -> None:
    branches: Branches = {name: partial(say, name.upper()) for name in "abc"}
    found = {number: word async for number, word in as_completed(branches, parallel=2)}
    assert found == {0: "A", 1: "B", 2: "C"}


async def test_nothing_comes_of_no_branches() -> None:
    none: Branches = {}
    assert [each async for each in as_completed(none, parallel=2)] == []


async def test_the_first_failure_is_raised_and_the_others_are_cancelled() -> None:
    tasks = len(asyncio.all_tasks())
    branches: Branches = {"a": never, "b": partial(fail, ValueError("b")), "c": never}
    with pytest.raises(ValueError, match="b"):
        _ = [each async for each in as_completed(branches, parallel=3)]
    assert len(asyncio.all_tasks()) == tasks


async def test_closing_early_leaks_no_task() -> None:
    tasks = len(asyncio.all_tasks())
    branches: Branches = {"a": partial(say, "a"), "b": never, "c": never}
    async with aclosing(as_completed(branches, parallel=3)) as coming:
        assert await anext(coming) == (0, "a")
        assert len(asyncio.all_tasks()) == tasks + 2
    assert len(asyncio.all_tasks()) == tasks


async def test_it_may_be_closed_by_another_task() -> None:
    tasks = len(asyncio.all_tasks())
    branches: Branches = {"a": partial(say, "a"), "b": never}
    coming = as_completed(branches, parallel=2)
    await anext(coming)
    async with anyio.create_task_group() as group:
        group.start_soon(coming.aclose)
    assert len(asyncio.all_tasks()) == tasks


async def test_it_is_cancelled_with_its_listener() -> None:
    tasks = len(asyncio.all_tasks())
    branches: Branches = {"a": never, "b": never}
    with anyio.move_on_after(0.01) as limit:
        _ = [each async for each in as_completed(branches, parallel=2)]
    assert limit.cancelled_caught
    assert len(asyncio.all_tasks()) == tasks


async def test_what_waits_for_the_host_is_asked_together_after_the_others_have_ended() -> None:
    def question(name: str) -> Suspended:
        return Suspended({name: HostQuestion(instructions="", prompt=name, max_tokens=1)})

    branches: Branches = {
        "a": partial(fail, question("a")),
        "b": partial(say, "b"),
        "c": partial(fail, question("c")),
    }
    found: list[str] = []

    async def listen() -> None:
        async for _, word in as_completed(branches, parallel=1):
            found.append(word)

    with pytest.raises(Suspended) as suspended:
        await listen()
    assert found == ["b"]
    assert sorted(suspended.value.questions) == ["a", "c"]


async def test_each_branch_is_a_place_of_the_journal_inside_the_current_one() -> None:
    async def place() -> str:
        return current_calls().journal.place()

    branches: Branches = {"a": place, "b": place}
    with recording():
        found = {number: path async for number, path in as_completed(branches, parallel=2)}
    assert found == {0: "work/a", 1: "work/b"}
