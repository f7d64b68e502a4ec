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
    """See `lint`; nothing is checked in a text that takes too much time or memory."""
    try:
        return await _apart(text, _lint, text, format)
    except (TimeoutError, MemoryError, ChildProcessError) as error:
        line = f"mechanics: not checked, the text takes too much {_spent(error)}"
        format = format or recognise(text[:SHORT])
        return Lint(issues=(), degraded=(line,), failed=(line,), format=format, checked=False)


async def edited(text: str, issues: Sequence[Issue], fixes: Tier, format: Format | None) -> Edited:
    """See `edit`; a text that takes too much time or memory stays as it is."""
    try:
        return await _apart(text, _edit, text, tuple(issues), fixes, format)
    except (TimeoutError, MemoryError, ChildProcessError):
        return Edited(text=text, edits=())


async def _apart(text: str, function: Callable[..., T], *arguments: object) -> T:
    if len(text) > SHORT:
        return await isolated(function, *arguments, seconds=SECONDS)
    return await to_thread.run_sync(partial(function, *arguments))


def _lint(text: str, format: Format | None) -> Lint:
    return lint(text, format=format)


def _edit(text: str, issues: Sequence[Issue], fixes: Tier, format: Format | None) -> Edited:
    return edit(text, issues, fixes=fixes, format=format)


def _spent(error: Exception) -> str:
    return "memory" if isinstance(error, MemoryError) else "time"
