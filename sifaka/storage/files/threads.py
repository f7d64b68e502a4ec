"""Threads for work with files, so that no event loop ever waits for a disk."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

T = TypeVar("T")
_READERS = 4


class Threads:
    """Runs functions in threads: one that writes and some that read, for each event loop.

    Nothing in it belongs to an event loop. A task that is cancelled waits for the end of its
    function, so nothing is left half done.
    """

    def __init__(self) -> None:
        # Tasks queue here, without a thread each. Who writes has the lock to themselves anyway.
        self._writers: RunVar[CapacityLimiter] = RunVar("sifaka.storage.files.writers")
        self._readers: RunVar[CapacityLimiter] = RunVar("sifaka.storage.files.readers")

    async def write(self, work: Callable[[], T]) -> T:
        """What a function returns that changes files."""
        return await to_thread.run_sync(work, limiter=_limiter(self._writers, 1))

    async def read(self, work: Callable[[], T]) -> T:
        """What a function returns that only looks."""
        return await to_thread.run_sync(work, limiter=_limiter(self._readers, _READERS))


def _limiter(loops: RunVar[CapacityLimiter], most: int) -> CapacityLimiter:
    limiter = loops.get(None)
    if limiter is None:
        limiter = CapacityLimiter(most)
        loops.set(limiter)
    return limiter
