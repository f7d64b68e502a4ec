"""Structured log records about failures.

A record carries data for programs and one short line for people. Neither has the text under review
in it, nor the words of an exception that is not ours: those may quote the text, or a key. Of a bug
in a component that the caller has written the record has the whole traceback, words included.
"""

import errno
import logging
from collections.abc import Iterator
from traceback import StackSummary, format_exception, walk_tb
from types import FunctionType
from typing import cast

from sifaka.calls.component import Component
from sifaka.errors import SifakaError, code_of

_LONGEST = 300
"""Characters of a message; ours name the things they are about, which may be long."""
_OURS = frozenset({"sifaka", "sifaka_mcp"})
_DEEPEST = 40
"""Frames of one exception's stack, the innermost."""


def report_failure(
    logger: logging.Logger,
    component: str,
    error: Exception,
    *,
    source: object | None = None,
    run_id: str | None = None,
    iteration: int | None = None,
    level: int = logging.WARNING,
) -> None:
    """Log that a component failed.

    The record's attribute `sifaka` is a dict of `component`, `error_type`, `error_code`,
    `retryable`, `run_id` and `iteration`, the last two None where they are unknown. An error that
    is not ours is a bug: the record's attribute `sifaka_stack` is a list of the lines of its
    traceback. They and the record have the words of the exception only if `source` is the caller's
    own code.

    Args:
        logger: The logger of the record.
        component: The component that failed, such as `critic:self_refine`.
        error: The error.
        source: The component, if the caller may have written it.
        run_id: The run it belongs to.
        iteration: The version that was worked on.
        level: The level of the record.
    """
    if not logger.isEnabledFor(level):
        return
    ours = isinstance(error, SifakaError)
    whole = not ours and source is not None and _is_foreign(source)
    lines = "".join(format_exception(error)).splitlines() if whole else stack_of(error)
    extra: dict[str, object] = {} if ours else {"sifaka_stack": list(lines)}
    logger.log(
        level,
        "%s failed: %s",
        component,
        _shorten(error.message) if ours else type(error).__name__,
        extra={
            "sifaka": {
                "component": component,
                "error_type": type(error).__name__,
                "error_code": code_of(error),
                "retryable": ours and error.retryable,
                "run_id": run_id,
                "iteration": iteration,
            },
            **extra,
        },
        exc_info=error if whole else None,
        stacklevel=2,
    )


def stack_of(error: BaseException) -> Iterator[str]:
    """The places and the classes of an exception and of those that led to it.

    Returns:
        A line for each frame, the innermost last, with file, line and function, then a line with
        the class; those of a group's exceptions follow after `| `. Neither the words of an
        exception nor lines of code are among it.
    """
    chain = [error]
    while (cause := _find_cause(chain[-1])) is not None and cause not in chain:
        chain.append(cause)
    for each in reversed(chain):
        frames = walk_tb(each.__traceback__)
        for frame in StackSummary.extract(frames, limit=-_DEEPEST, lookup_lines=False):
            yield f'File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        yield _name_error(each)
        if isinstance(each, BaseExceptionGroup):
            for inner in cast("BaseExceptionGroup[BaseException]", each).exceptions:
                yield from (f"| {line}" for line in stack_of(inner))


def _is_foreign(component: object) -> bool:
    """Check that the code of a component is neither the library's nor the server's."""
    source = component.source if isinstance(component, Component) else component
    if source is None:
        return False
    code = source if isinstance(source, FunctionType) else type(source)
    return code.__module__.partition(".")[0] not in _OURS


def _find_cause(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None or error.__suppress_context__:
        return error.__cause__
    return error.__context__


def _name_error(error: BaseException) -> str:
    name = type(error).__qualname__
    # The system's own reason quotes no text.
    number = error.errno if isinstance(error, OSError) else None
    return name if number is None else f"{name} {errno.errorcode.get(number, number)}"


def _shorten(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
