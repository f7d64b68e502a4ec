"""The editor beside the event loop: in a process with limits, or in a thread for a short text."""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from sifaka.errors import PluginError
from sifaka.isolation import is_spread, isolated

T = TypeVar("T")

SHORT = 5_000
"""The most characters of a text that may be edited in a thread."""
SECONDS = 10.0
"""Seconds of processor time that a text may take."""


async def apart(text: str, work: Callable[[], T]) -> T:
    """The result of work on a text.

    Raises:
        PluginError: The text takes too much, or ends its process.
    """
    try:
        if len(text) <= SHORT and not is_spread():
            return await to_thread.run_sync(work)
        return await isolated(work, seconds=SECONDS)
    except TimeoutError as error:
        raise PluginError("the text takes too much time") from error
    except MemoryError as error:
        raise PluginError("the text takes too much memory") from error
    except ChildProcessError as error:
        raise PluginError("its process ended") from error
