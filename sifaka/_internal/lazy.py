"""Deferred imports: names of a package at their first use (PEP 562), and PydanticAI."""

import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from sifaka._internal.renamed import instead_of


def imported_later(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: Its name.
        places: The module of each name.
    """

    def find(name: str) -> Any:
        if name not in places:
            if advice := instead_of(package, name):
                raise ImportError(f"{package} has no {name!r}: {advice}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return find


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
