"""What some work costs, whatever other threads and earlier tests have left to do."""

import gc
from collections.abc import Callable
from time import thread_time


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
