"""Threads for work that blocks, so that no event loop ever waits for a disk or a server."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

T = TypeVar("T")


class Threads:
    """Runs functions in threads, so many at once for each event loop.

    Nothing in it belongs to an event loop, so it outlives them.

    Args:
        name: What it is for.
        most: How many functions are at work; further tasks wait for their turn without a thread.
    """

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._limiters: RunVar[CapacityLimiter] = RunVar(name)

    async def run(self, work: Callable[[], T]) -> T:
        """The function's result. A task that is cancelled meanwhile waits for its end."""
        limiter = self._limiters.get(None)
        if limiter is None:
            limiter = CapacityLimiter(self._most)
            self._limiters.set(limiter)
        return await to_thread.run_sync(work, limiter=limiter)
