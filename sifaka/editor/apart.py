"""The editor beside the event loop: short texts in a thread, long ones in a process with limits."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from anyio import to_thread

from sifaka.editor.apply import Edited, Tier
from sifaka.editor.edit import edit
from sifaka.editor.report import Lint, lint
from sifaka.isolation import isolated
from sifaka.record.results import Issue
from sifaka.text.formats import Format, recognise

T = TypeVar("T")

SHORT = 5_000
"""The most characters of a text that needs no process of its own."""
SECONDS = 10.0
"""Seconds of processor time that a text may take."""


async def linted(text: str, format: Format | None) -> Lint:
    """See `lint`; nothing is checked in a text that takes too much, or ends its process."""
    try:
        return await _apart(text, partial(lint, text, format=format))
    except (TimeoutError, MemoryError, ChildProcessError) as error:
        line = f"mechanics: not checked, {_fault(error)}"
        format = format or recognise(text[:SHORT])
        return Lint(issues=(), degraded=(line,), failed=(line,), format=format, checked=False)


async def edited(text: str, issues: Sequence[Issue], fixes: Tier, format: Format | None) -> Edited:
    """See `edit`; a text that takes too much, or ends its process, stays as it is."""
    try:
        return await _apart(text, partial(edit, text, tuple(issues), fixes=fixes, format=format))
    except (TimeoutError, MemoryError, ChildProcessError):
        return Edited(text=text, edits=())


async def _apart(text: str, work: Callable[[], T]) -> T:
    if len(text) > SHORT:
        return await isolated(work, seconds=SECONDS)
    return await to_thread.run_sync(work)


def _fault(error: Exception) -> str:
    match error:
        case MemoryError():
            return "the text takes too much memory"
        case TimeoutError():
            return "the text takes too much time"
        case _:
            return "its process ended"
