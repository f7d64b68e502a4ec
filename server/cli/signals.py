"""What ends a command from outside: Ctrl-C and the termination signal."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes: 128 and the signal's number, as shells have it."""
PARTING_SECONDS = 1.0
"""How long a server that was interrupted may take to put the ends of its runs on record."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end; everything in progress is cancelled as by Ctrl-C."""


@contextmanager
def termination_interrupts() -> Generator[None]:
    """Within it the termination signal acts like Ctrl-C, so that a run is recorded as cancelled.

    Raises:
        Terminated: The signal came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        # In an event loop this is the loop's own handler, which cancels the main task.
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):
            raise KeyboardInterrupt
        handler(number, frame)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if came:
            raise Terminated from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interruption_ends_the_process() -> Generator[None]:
    """Within it Ctrl-C ends the process, even while a thread waits for standard input.

    The interpreter would join that thread, and it reads until the client closes the pipe. A second
    Ctrl-C does not wait for anything.
    """
    # Not where somebody ignores the signal: shells do that for what they start in the background.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:
        _leave()

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, leave)
        # The interrupt may come out of any task, and the loop would report that as an error.
        logging.getLogger("asyncio").disabled = True
        last = threading.Timer(PARTING_SECONDS, _leave)
        last.daemon = True
        last.start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        _leave()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave() -> NoReturn:
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(INTERRUPTED)
