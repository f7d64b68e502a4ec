"""Signals that end a command: Ctrl-C and the termination signal."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes: 128 and the signal's number, as shells have it."""
PARTING_SECONDS = 1.0
"""Seconds that an interrupted server may take to record the ends of its runs."""


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

    with _interrupts_have_a_handler():
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
def interruptible() -> Generator[None]:
    """Within it Ctrl-C raises at once, where an event loop would wait for what blocks it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _interrupts_have_a_handler() -> Generator[None]:
    """Let an event loop handle Ctrl-C where it is ignored, as for commands in the background.

    Ctrl-C stays without effect there: it is blocked in place of ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN or sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interruption_ends_the_process(ending: Callable[[], None]) -> Generator[None]:
    """Let Ctrl-C and the termination signal end the process, also while a thread waits.

    The interpreter would join the thread that waits for standard input, and it reads until the
    client closes the pipe. A second signal does not wait for anything.

    Args:
        ending: Is called first, from the signal handler.
    """
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    # Not where the signal is ignored, as shells have it for commands in the background.
    ours = [number for number, handler in usual.items() if signal.getsignal(number) is handler]
    code = INTERRUPTED

    def leave(number: int, frame: FrameType | None) -> None:
        _leave(code)

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal code
        code = TERMINATED if number == signal.SIGTERM else INTERRUPTED
        for each in ours:
            signal.signal(each, leave)
        # The interrupt may come out of any task, and the loop would report that as an error.
        logging.getLogger("asyncio").disabled = True
        last = threading.Timer(PARTING_SECONDS, _leave, (code,))
        last.daemon = True
        last.start()
        ending()
        raise KeyboardInterrupt

    for each in ours:
        signal.signal(each, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if not ours:
            raise
        _leave(code)
    finally:
        for each in ours:
            signal.signal(each, usual[each])


def _leave(code: int) -> NoReturn:
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
