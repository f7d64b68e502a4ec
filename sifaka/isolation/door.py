"""The one door of work on foreign text: here while the text is short, in a worker process beyond.

What takes quadratic time takes next to none on a short text; on a long one it would hold up all
that this process serves, and go on after its client has left.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import to_thread

from sifaka.isolation.pool import isolated, isolated_in_thread

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

GIVEN_UP = (TimeoutError, MemoryError, ChildProcessError)
"""What is raised of work that takes too much, or ends its process."""
SHORT = 5_000
"""The most characters that are worked on in a thread of this process."""
SECONDS = 20.0
"""Seconds of processor time that a longer text may take, unless a caller allows less."""


async def run_limited(
    function: Callable[[Unpack[Ts]], T],
    *arguments: *Ts,
    size: float,
    seconds: float = SECONDS,
) -> T:
    """Call a function that works on a foreign text, beside the event loop.

    A task that is cancelled waits for the end of what is done here, which is short, and ends the
    process that works for it.

    Args:
        function: One of a module, or a method; it, its arguments and its result can be pickled.
        arguments: Its arguments.
        size: The characters that it works on; infinite where even a few may take it long.
        seconds: Of processor time that it may take in a worker process.

    Raises:
        TimeoutError: It took longer.
        MemoryError: It took more than `sifaka.isolation.pool.MEMORY`.
        ChildProcessError: Its process has ended, as when it crashed.
        Exception: What the function raised.
    """
    if size <= SHORT:
        return await to_thread.run_sync(partial(function, *arguments))
    return await isolated(function, *arguments, seconds=seconds)


def run_limited_in_thread(
    function: Callable[[Unpack[Ts]], T],
    *arguments: *Ts,
    size: float,
    seconds: float = SECONDS,
) -> T:
    """As `run_limited`, for a thread that may wait."""
    if size <= SHORT:
        return function(*arguments)
    return isolated_in_thread(function, *arguments, seconds=seconds)
