"""The editor beside the event loop, which remembers the texts that took it too long."""

from collections.abc import Callable
from hashlib import sha256
from math import inf
from time import monotonic
from typing import TypeVar

from sifaka.errors import PluginError
from sifaka.isolation import SPREAD, run_limited

T = TypeVar("T")

SECONDS = 8.0
"""Seconds of processor time that a text may take."""
AGAIN = 60.0
"""Seconds after which a text that took too much is tried again."""
_MOST = 100
"""Texts that took too long and are remembered."""
_too_long: dict[bytes, float] = {}
"""Their digests, and until when they are not tried."""


async def run_editor(text: str, work: Callable[[], T]) -> T:
    """The result of work on a text.

    Editor and critic ask for the same text: what took too long for one is not tried by the next.

    Raises:
        PluginError: The text takes too much, or ends its process.
    """
    key = sha256(text.encode(errors="surrogatepass")).digest()
    if monotonic() < _too_long.get(key, 0.0):
        raise PluginError("the text takes too much time")
    try:
        size = inf if SPREAD.is_set() else len(text)
        return await run_limited(work, size=size, seconds=SECONDS)
    except TimeoutError as error:
        _too_long[key] = monotonic() + AGAIN
        while len(_too_long) > _MOST:
            del _too_long[next(iter(_too_long))]
        raise PluginError("the text takes too much time") from error
    except MemoryError as error:
        raise PluginError("the text takes too much memory") from error
    except ChildProcessError as error:
        raise PluginError("its process ended") from error
