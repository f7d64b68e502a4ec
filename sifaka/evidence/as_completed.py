"""Branches that run at the same time, their results as they come."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TypeVar

import anyio

from sifaka.calls.host import Suspended
from sifaka.calls.journal import scope

T = TypeVar("T")


async def as_completed(
    branches: Mapping[str, Callable[[], Awaitable[T]]], *, parallel: int
) -> AsyncGenerator[tuple[int, T], None]:
    """Yield the number and the result of each branch when it is done.

    Unlike `fan_out` it sets no calls aside: each branch takes what is left when its turn comes.
    Tasks of its own and no task group: a generator may be closed by another task than the one that
    has used it. Whatever still runs then is cancelled and waited for.

    Raises:
        Suspended: Some wait for answers of the host; the others have come to their end.
        Exception: What the first branch that failed raised; the others were cancelled.
    """
    limiter = asyncio.Semaphore(parallel)

    async def run(name: str, branch: Callable[[], Awaitable[T]]) -> T:
        async with limiter:
            with scope(name):
                return await branch()

    done: asyncio.Queue[asyncio.Task[T]] = asyncio.Queue()
    numbers = {
        asyncio.create_task(run(name, branch)): number
        for number, (name, branch) in enumerate(branches.items())
    }
    for task in numbers:
        task.add_done_callback(done.put_nowait)
    waiting: list[Suspended] = []
    try:
        for _ in numbers:
            task = await done.get()
            try:
                result = task.result()
            except Suspended as suspended:
                waiting.append(suspended)
            else:
                yield numbers[task], result
    finally:
        await _ended(numbers)
    if waiting:
        raise Suspended.together(waiting)


async def _ended(tasks: Mapping[asyncio.Task[T], int]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        with anyio.CancelScope(shield=True):
            await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # raised to the reader, or the reader is gone
