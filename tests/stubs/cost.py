"""What some work costs, whatever other threads and earlier tests have left to do."""

import gc
import re
from collections import Counter
from collections.abc import Callable
from time import thread_time

_YARDSTICK = 0.073
"""Seconds that the fixed work of `slowness` took where the goals of commands were set."""
_TEXT = "The men of the firm has it. " * 30_000


def seconds(work: Callable[[], object]) -> float:
    """Seconds of processor time of this thread; no garbage is collected meanwhile."""
    collects = gc.isenabled()
    gc.disable()
    try:
        began = thread_time()
        work()
        return thread_time() - began
    finally:
        if collects:
            gc.enable()


def slowness() -> float:
    """How many times slower this machine is now than the one goals were set on; 1 at least.

    The work is the standard library's alone, so that code of ours that gets slower is noticed.
    """

    def work() -> object:
        return Counter(found.group().lower() for found in re.finditer("[A-Za-z]+", _TEXT))

    return max(1.0, min(seconds(work) for _ in range(5)) / _YARDSTICK)
