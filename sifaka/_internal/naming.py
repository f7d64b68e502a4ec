"""Names of things, and what tells those of one name apart."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast


def unique(names: Iterable[str]) -> list[str]:
    """The names, a repeated one with its count: `length`, `length#2`."""
    given = list(names)
    taken: set[str] = set()
    found: list[str] = []
    for name in given:
        count, candidate = 1, name
        while candidate in taken or (count > 1 and candidate in given):
            count += 1
            candidate = f"{name}#{count}"
        taken.add(candidate)
        found.append(candidate)
    return found


def function_name(function: Callable[..., object]) -> str:
    """A readable name of a function, a lambda, a partial function or a callable object."""
    return _named(function).__name__.strip("<>")


def function_place(function: Callable[..., object]) -> str:
    """The module and the qualified name of a function, or of the class of a callable object."""
    named = _named(function)
    return f"{named.__module__}.{named.__qualname__}"


def _named(function: Callable[..., object]) -> Any:
    while isinstance(function, partial):
        function = cast("partial[object]", function).func
    return function if hasattr(function, "__qualname__") else type(function)
