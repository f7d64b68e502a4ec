"""Events of work that tells what it does."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
import pytest

from sifaka import ChainEvent
from sifaka.calls.host import Suspended
from sifaka.chain.alongside import Tell, alongside

pytestmark = pytest.mark.anyio


def event(message: str) -> ChainEvent:
    return ChainEvent(run_id="run_x", iteration=0, phase="research", message=message)


async def test_what_is_told_comes_in_order_and_while_the_work_goes_on() -> None:
    first_heard = anyio.Event()

    async def work(tell: Tell) -> None:
        await tell(event("first"))
        await first_heard.wait()
        await tell(event("second"))

    heard: list[str] = []
    with anyio.fail_after(20):
        async with aclosing(alongside(work)) as events:
            async for each in events:
                heard.append(each.message)
                first_heard.set()
    assert heard == ["first", "second"]


@pytest.mark.parametrize("error", [ValueError("broken"), Suspended({})])
async def test_what_the_work_raises_comes_after_all_that_it_told(error: BaseException) -> None:
    async def work(tell: Tell) -> None:
        await tell(event("before"))
        raise error

    events = alongside(work)
    assert (await anext(events)).message == "before"
    with pytest.raises(type(error)) as raised:
        await anext(events)
    assert raised.value is error


class Endless:
    """Work that tells one thing and goes on for ever, and takes a while to clean up."""

    def __init__(self) -> None:
        self.cleaned = False

    async def __call__(self, tell: Tell) -> None:
        try:
            await tell(event("here"))
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            self.cleaned = True


async def test_work_ends_before_whoever_stops_listening_goes_on() -> None:
    work = Endless()
    events = alongside(work)
    assert (await anext(events)).message == "here"
    await events.aclose()
    assert work.cleaned


async def test_work_is_cancelled_with_whoever_listens() -> None:
    work = Endless()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:

            async def listen() -> None:
                async for _ in alongside(work):
                    group.cancel_scope.cancel()

            group.start_soon(listen)
    assert work.cleaned


async def test_a_generator_may_be_closed_by_another_task_than_the_one_that_used_it() -> None:
    work = Endless()
    events = alongside(work)
    assert (await asyncio.create_task(_next(events))).message == "here"
    await events.aclose()
    assert work.cleaned


async def _next(events: AsyncGenerator[ChainEvent, None]) -> ChainEvent:
    return await anext(events)
