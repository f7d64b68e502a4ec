"""The editor beside the event loop: in a process with limits, or in a thread for a short text."""

from collections.abc import Callable
from hashlib import sha256
from time import monotonic
from typing import TypeVar

from anyio import to_thread

from sifaka.errors import PluginError
from sifaka.isolation import SPREAD, isolated

T = TypeVar("T")

SHORT = 5_000
"""The most characters of a text that may be edited in a thread."""
SECONDS = 8.0
"""Seconds of processor time that a text may take."""
AGAIN = 60.0
"""Seconds after which a text that took too much is tried again."""
_MOST = 100
"""Texts that took too long and are remembered."""
_too_long: dict[bytes, float] = {}
"""Their digests, and until when they are not tried."""


async def apart(text: str, work: Callable[[], T]) -> T:
    """The result of work on a text.

    Editor and critic ask for the same text: what took too long for one is not tried by the next.

    Raises:
        PluginError: The text takes too much, or ends its process.
    """
    key = sha256(text.encode(errors="surrogatepass")).digest() if _too_long else b""
    if monotonic() < _too_long.get(key, 0.0):
        raise PluginError("the text takes too much time")
    try:
        if len(text) <= SHORT and not SPREAD.is_set():
            return await to_thread.run_sync(work)
        return await isolated(work, seconds=SECONDS)
    except TimeoutError as error:
        key = sha256(text.encode(errors="surrogatepass")).digest()
        _too_long[key] = monotonic() + AGAIN
        while len(_too_long) > _MOST:
            del _too_long[next(iter(_too_long))]
        raise PluginError("the text takes too much time") from error
    except MemoryError as error:
        raise PluginError("the text takes too much memory") from error
    except ChildProcessError as error:
        raise PluginError("its process ended") from error
