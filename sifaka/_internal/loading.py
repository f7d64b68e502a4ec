"""Importing PydanticAI: late, as it takes long, by one thread, as its modules form a circle."""

import threading
from importlib import import_module

_importing = threading.Lock()
_MODULES = ("pydantic_ai", "pydantic_ai.direct", "pydantic_ai.models.wrapper")


def load_pydantic_ai() -> None:
    """Import PydanticAI; returns at once when it is imported.

    Its modules form a circle, and a second thread would see them half-made. So every use of
    PydanticAI comes through here first, and waits for the thread that imports.
    """
    with _importing:
        for module in _MODULES:
            import_module(module)
