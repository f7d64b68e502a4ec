"""Events of work that tells what it does while somebody waits for it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import anyio

from sifaka.record.events import ChainEvent

Tell = Callable[[ChainEvent], Awaitable[None]]


async def alongside(work: Callable[[Tell], Awaitable[None]]) -> AsyncGenerator[ChainEvent, None]:
    """Yield what the work tells until it is done; it is cancelled with whoever listens.

    A task of its own and no task group: a generator may be closed by another task than the one
    that has used it.

    Raises:
        Exception: What the work raised, after everything it had told.
    """
    told: asyncio.Queue[ChainEvent | None] = asyncio.Queue()

    async def tell(event: ChainEvent) -> None:
        told.put_nowait(event)

    async def run() -> None:
        try:
            await work(tell)
        finally:
            told.put_nowait(None)

    task = asyncio.create_task(run())
    try:
        while (event := await told.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # raised above, or nobody listens any more
