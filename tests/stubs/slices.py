"""The slices of an event loop: what it does between two looks at its sockets."""

import threading
from asyncio import BaseEventLoop, Handle
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import thread_time
from typing import Any


class Slices:
    """The longest slice of the asyncio loop of each thread, in seconds of processor time."""

    def __init__(self) -> None:
        self.longest: dict[int, float] = {}
        self.rounds: dict[int, float] = {}
        """The longest time between two looks at the sockets, of all slices together."""
        self.looks: Counter[int] = Counter()
        """The looks at the sockets that each thread has begun."""

    def forget(self) -> None:
        """Begin anew."""
        self.longest.clear()
        self.rounds.clear()

    def elsewhere(self) -> float:
        """The longest of all threads but this one."""
        return _elsewhere(self.longest)

    def round_elsewhere(self) -> float:
        """The longest round of all threads but this one."""
        return _elsewhere(self.rounds)


def _elsewhere(longest: dict[int, float]) -> float:
    here = threading.get_ident()
    return max((took for thread, took in longest.items() if thread != here), default=0.0)


def _timed(
    call: Callable[[Any], None], longest: dict[int, float], begun: Counter[int] | None = None
) -> Callable[[Any], None]:
    def timed(self: Any) -> None:
        if begun is not None:
            begun[threading.get_ident()] += 1
        began = thread_time()
        try:
            call(self)
        finally:
            thread, took = threading.get_ident(), thread_time() - began
            longest[thread] = max(took, longest.get(thread, 0.0))

    return timed


@contextmanager
def watched() -> Generator[Slices]:
    """Within it the slices of asyncio's own loops are timed; uvloop's are not seen."""
    slices = Slices()
    # What loops call for each slice, and for each round of them.
    methods = (
        (Handle, "_run", slices.longest, None),
        (BaseEventLoop, "_run_once", slices.rounds, slices.looks),
    )
    whole = [(owner, name, getattr(owner, name)) for owner, name, *_ in methods]
    for owner, name, longest, begun in methods:
        setattr(owner, name, _timed(getattr(owner, name), longest, begun))
    try:
        yield slices
    finally:
        for owner, name, method in whole:
            setattr(owner, name, method)
