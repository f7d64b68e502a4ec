"""Importing PydanticAI: late, as it takes long, by one thread, as its modules form a circle."""

import threading
from importlib import import_module

_importing = threading.Lock()
_MODULES = ("pydantic_ai", "pydantic_ai.direct", "pydantic_ai.models.wrapper")


def load_pydantic_ai() -> None:
    """Import what every use of a provider needs; at once when that is done already.

    A second thread that imports a circle of modules half-way through sees them half-made. So
    everything that uses PydanticAI comes through here first, and waits for whoever is importing.
    """
    with _importing:
        for module in _MODULES:
            import_module(module)
