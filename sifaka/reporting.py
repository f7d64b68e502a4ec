"""Structured log records about failures.

A record carries data for programs and one short line for people. Neither has the text under review
in it, nor the words of an exception that is not ours: those may quote the text, or a key.
"""

import logging

from sifaka.errors import SifakaError
from sifaka.recovery import code_of

_LONGEST = 300
"""Characters of a message; ours name the things they are about, which may be long."""


def report_failure(
    logger: logging.Logger,
    component: str,
    error: Exception,
    *,
    run_id: str | None = None,
    iteration: int | None = None,
    level: int = logging.WARNING,
) -> None:
    """Log that a component failed.

    The record's attribute `sifaka` is a dict of `component`, `error_type`, `code`, `retryable`,
    `run_id` and `iteration`, the last two None where they are unknown. An error that is not ours
    has its traceback in the record: it is a bug, ours or a plugin's.

    Args:
        logger: Whose record it is.
        component: What failed, such as `critic:self_refine`.
        error: What it failed with.
        run_id: The run it belongs to.
        iteration: The version that was worked on.
        level: The level of the record.
    """
    if not logger.isEnabledFor(level):
        return
    ours = isinstance(error, SifakaError)
    logger.log(
        level,
        "%s failed: %s",
        component,
        _line(error.message) if ours else type(error).__name__,
        extra={
            "sifaka": {
                "component": component,
                "error_type": type(error).__name__,
                "code": code_of(error),
                "retryable": ours and error.retryable,
                "run_id": run_id,
                "iteration": iteration,
            }
        },
        exc_info=None if ours else error,
        stacklevel=2,
    )


def _line(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
