"""The slices of an event loop: what it does between two looks at its sockets."""

import threading
from asyncio import Handle
from collections.abc import Generator
from contextlib import contextmanager
from time import thread_time


class Slices:
    """The longest slice of the asyncio loop of each thread, in seconds of processor time."""

    def __init__(self) -> None:
        self.longest: dict[int, float] = {}

    def forget(self) -> None:
        """Begin anew."""
        self.longest.clear()

    def elsewhere(self) -> float:
        """The longest of all threads but this one."""
        here = threading.get_ident()
        return max((took for thread, took in self.longest.items() if thread != here), default=0.0)


@contextmanager
def watched() -> Generator[Slices]:
    """Within it the slices of asyncio's own loops are timed; uvloop's are not seen."""
    slices, run = Slices(), Handle._run  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue] # what loops call for each slice

    def timed(self: Handle) -> None:
        began = thread_time()
        try:
            run(self)
        finally:
            thread, took = threading.get_ident(), thread_time() - began
            slices.longest[thread] = max(took, slices.longest.get(thread, 0.0))

    setattr(Handle, "_run", timed)  # noqa: B010 - it is private
    try:
        yield slices
    finally:
        setattr(Handle, "_run", run)  # noqa: B010 - it is private
