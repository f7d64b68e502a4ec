"""When Python looks for garbage: not while modules are loaded, and seldom after that."""

import gc
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager

_OLDEST = 2
"""The generation of a full collection."""
_SERVER = (2_000, 10, 100)
_COMMAND = (50_000, 20, 100)
"""Objects that are made and not freed, after which the youngest are looked through (700 in Python
itself); so many times, after which older ones are too, and after that all (10 there)."""


@contextmanager
def loading() -> Generator[None]:
    """Turn the collector off, and leave alone later what exists at the end.

    Modules and models live as long as the process. While they are loaded, the collector would go
    through all of them several times, a sixth of a server's start, and find nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_seldom() -> None:
    """For commands and servers on stdio; to look for it takes a tenth of a long text's time."""
    gc.set_threshold(*_COMMAND)


def collect_less() -> None:
    """For servers with many runs: less often than Python, without the content of modules.

    Hardly anything here is garbage that refers to itself, and to look for it as often as Python
    does takes a twentieth of the processor time; a full collection under load stops all requests
    for 0.15 s. Modules are never garbage, and would make it longer. They may be imported at any
    time, so the next full collection is the last to go through them.
    """
    gc.set_threshold(*_SERVER)
    counted = 0

    def freeze(phase: str, info: Mapping[str, int]) -> None:
        nonlocal counted
        if phase == "stop" and info["generation"] == _OLDEST and len(sys.modules) > counted:
            counted = len(sys.modules)
            gc.freeze()

    gc.callbacks.append(freeze)
