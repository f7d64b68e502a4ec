"""The streams of the process, be they a terminal, a pipe or a full disk, and its signals."""

import io
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar

from sifaka.errors import ConfigurationError
from sifaka_mcp.safe_text import COMMANDS, one_line, visible

if TYPE_CHECKING:
    from pydantic import BaseModel


STDIO = "-"
"""The name of standard input, and of standard output."""
T = TypeVar("T")
INTERRUPTED, TERMINATED = 130, 143
"""Exit codes: 128 plus the number of the signal, as in shells."""
PARTING_SECONDS = 1.0
"""Seconds that an interrupted server may take to record the ends of its runs."""


def prepare_streams() -> None:
    """Make standard output and error take every character, in every locale.

    A terminal keeps its encoding, since it can show no other; files and pipes get UTF-8. A stream
    that was closed by the caller takes everything and keeps nothing.
    """
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            # Without this the next file to be opened would get the number of the closed stream.
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                encoding=stream.encoding if stream.isatty() else "utf-8", errors="backslashreplace"
            )


def standard_input(advice: str) -> TextIO:
    """Standard input.

    Args:
        advice: What helps where it is closed.

    Raises:
        ConfigurationError: It is closed.
    """
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise ConfigurationError("standard input is closed", advice)
    return stream


def say(line: str) -> None:
    """Print a line of the program itself on standard error."""
    print(f"sifaka: {one_line(line)}", file=sys.stderr)


def print_lines(lines: Iterable[str]) -> bool:
    """Print lines at once; False when the reader has left, so that there is nothing left to do.

    Raises:
        ConfigurationError: Standard output cannot be written.
    """
    with printing() as stream:
        for line in lines:
            print(line, file=stream)
        return True
    return False


def print_json(value: "BaseModel | object", stream: TextIO) -> None:
    """Print a value as an MCP client would get it; no terminal obeys or reorders it."""
    from pydantic import BaseModel

    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    # A terminal that lacks a character gets JSON's own escape for it.
    as_ascii = not stream.encoding.lower().startswith("utf")
    text = json.dumps(data, indent=2, ensure_ascii=as_ascii)
    print(COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text), file=stream)


def lines(texts: Iterable[str]) -> Callable[[TextIO], object]:
    """Prints lines, for `Session.answer`."""
    return lambda stream: stream.writelines(f"{line}\n" for line in texts)


@contextmanager
def printing() -> Generator[TextIO]:
    """Standard output, flushed at the end.

    When the reader has left, the rest of the output is dropped.

    Raises:
        ConfigurationError: It cannot be written, such as on a full disk.
    """
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer would fail again when the interpreter ends.
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
        if not isinstance(error, BrokenPipeError):
            raise ConfigurationError(
                f"standard output: {error.strerror}", "the work itself was done; print elsewhere"
            ) from error


def print_text(text: str) -> None:
    """Print a text as it is, without a line end of ours; a terminal gets nothing it would obey.

    Raises:
        ConfigurationError: Standard output cannot be written.
    """
    with printing() as stream:
        if stream.isatty():
            print(visible(text), file=stream)
        else:
            stream.buffer.write(text.encode("utf-8"))


class Terminated(KeyboardInterrupt):
    """The process was asked to end; everything in progress is cancelled as by Ctrl-C."""


async def cancelled_by_termination(stack: AsyncExitStack, work: Coroutine[Any, Any, T]) -> T:
    """The result of work that the termination signal cancels, so that a run is recorded as such.

    Args:
        stack: What the work opens, which is closed then.
        work: The work.

    Raises:
        asyncio.CancelledError: The signal came.
    """
    import asyncio  # a check of files does without it

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "a coroutine runs in one"

    def cancel(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(task.cancel)

    with _handle({signal.SIGTERM: cancel}):
        async with stack:
            return await work


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


@contextmanager
def _handle(handlers: Mapping[int, Callable[[int, FrameType | None], object]]) -> Generator[None]:
    """Handle signals: in the main thread, and not where they are ignored.

    Shells have Ctrl-C ignored for commands in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    numbers = [number for number in handlers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handlers[number]) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interruptible() -> AbstractContextManager[None]:
    """Within it both signals raise at once, where an event loop would wait for what blocks it.

    Raises:
        Terminated: The termination signal came.
    """
    return _handle({signal.SIGTERM: _terminate, signal.SIGINT: signal.default_int_handler})


@contextmanager
def interruption_ends_the_process(ending: Callable[[], None]) -> Generator[None]:
    """Let Ctrl-C and the termination signal end the process, also while a thread waits.

    The interpreter would join the thread that waits for standard input, and it reads until the
    client closes the pipe. A second signal does not wait for anything.

    Args:
        ending: Is called first, from the signal handler.
    """
    codes: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if codes:
            _exit_now(codes[0])
        codes.append(128 + number)
        # The interrupt may come out of any task, and the loop would report that as an error.
        logging.getLogger("asyncio").disabled = True
        timer = threading.Timer(PARTING_SECONDS, _exit_now, codes)
        timer.daemon = True
        timer.start()
        ending()
        raise KeyboardInterrupt

    with _handle({signal.SIGINT: interrupt, signal.SIGTERM: interrupt}):
        try:
            yield
        except KeyboardInterrupt:
            if not codes:
                raise
            _exit_now(codes[0])


def _exit_now(code: int) -> NoReturn:
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
