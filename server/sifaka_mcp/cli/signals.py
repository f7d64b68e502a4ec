"""Signals that end a command: Ctrl-C and the termination signal."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
INTERRUPTED, TERMINATED = 130, 143
"""Exit codes: 128 and the signal's number, as shells have it."""
PARTING_SECONDS = 1.0
"""Seconds that an interrupted server may take to record the ends of its runs."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end; everything in progress is cancelled as by Ctrl-C."""


async def cancelled_by_termination(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that the termination signal cancels, so that a run is recorded as such.

    Raises:
        asyncio.CancelledError: The signal came.
    """
    import asyncio  # a check of files does without it

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "a coroutine runs in one"

    def cancel(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(task.cancel)

    with _handled({signal.SIGTERM: cancel}):
        return await work


@contextmanager
def termination_interrupts() -> Generator[None]:
    """Within it the termination signal raises at once, as Ctrl-C does.

    Raises:
        Terminated: The signal came.
    """
    with _handled({signal.SIGTERM: _terminate}):
        yield


@contextmanager
def interruptible() -> Generator[None]:
    """Within it both signals raise at once, where an event loop would wait for what blocks it."""
    with _handled({signal.SIGTERM: _terminate, signal.SIGINT: signal.default_int_handler}):
        yield


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


@contextmanager
def _handled(handlers: Mapping[int, Callable[[int, FrameType | None], object]]) -> Generator[None]:
    """Handle signals: in the main thread, and not where they are ignored.

    Shells have Ctrl-C ignored for commands in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    heeded = [number for number in handlers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handlers[number]) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruption_ends_the_process(ending: Callable[[], None]) -> Generator[None]:
    """Let Ctrl-C and the termination signal end the process, also while a thread waits.

    The interpreter would join the thread that waits for standard input, and it reads until the
    client closes the pipe. A second signal does not wait for anything.

    Args:
        ending: Is called first, from the signal handler.
    """
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if came:
            _leave(came[0])
        came.append(128 + number)
        # The interrupt may come out of any task, and the loop would report that as an error.
        logging.getLogger("asyncio").disabled = True
        last = threading.Timer(PARTING_SECONDS, _leave, came)
        last.daemon = True
        last.start()
        ending()
        raise KeyboardInterrupt

    with _handled({signal.SIGINT: interrupt, signal.SIGTERM: interrupt}):
        try:
            yield
        except KeyboardInterrupt:
            if not came:
                raise
            _leave(came[0])


def _leave(code: int) -> NoReturn:
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
