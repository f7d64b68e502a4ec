"""Names: made unique, taken from functions, and suggested for misspelt ones."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from typing import Any, cast


def unique(
    names: Iterable[str],
    numbered: str = "{}#{}",
    *,
    taken: Iterable[str] = (),
    key: Callable[[str], str] = str,
) -> list[str]:
    """The names, so that they differ, a repeated one with its count: `length`, `length#2`.

    Args:
        names: In their order; the first of several keeps its name.
        numbered: The form of a name with its count.
        taken: Names that none may have.
        key: What two names must not have in common, such as their form without case.
    """
    given = list(names)
    different = set(map(key, given))
    known = set(map(key, taken))
    found: list[str] = []
    for name in given:
        count, candidate = 1, name
        while key(candidate) in known or (count > 1 and key(candidate) in different):
            count += 1
            candidate = numbered.format(name, count)
        known.add(key(candidate))
        found.append(candidate)
    return found


def function_name(function: Callable[..., object]) -> str:
    """A readable name of a function, a lambda, a partial function or a callable object."""
    return _unwrap(function).__name__.strip("<>")


def function_place(function: Callable[..., object]) -> str:
    """The module and the qualified name of a function, or of the class of a callable object."""
    named = _unwrap(function)
    return f"{named.__module__}.{named.__qualname__}"


def _unwrap(function: Callable[..., object]) -> Any:
    while isinstance(function, partial):
        function = cast("partial[object]", function).func
    return function if hasattr(function, "__qualname__") else type(function)


_LONGEST = 60
"""Characters of a name that are compared: the time grows with their square."""


def closest(name: str, allowed: Iterable[str], *, similarity: float = 0.6) -> str | None:
    """The allowed name that is most similar to a misspelt one; None when none is similar."""
    by_form = {_form(each): each for each in allowed}
    found = get_close_matches(_form(name), by_form, n=1, cutoff=similarity)
    return by_form[found[0]] if found else None


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """The suggestion of an error about an unknown name.

    Args:
        name: The unknown name.
        allowed: The names that exist, in the order in which they are listed.

    Returns:
        Such as `did you mean 'self_refine'? known: lint, self_refine`; only the second sentence
        when no name is similar.
    """
    names = list(allowed)
    similar = closest(name, names)
    known = f"known: {', '.join(names)}"
    return known if similar is None else f"did you mean {similar!r}? {known}"


def _form(name: str) -> str:
    """A name as it is compared: case and the kind of separator do not count."""
    return name[:_LONGEST].lower().replace("-", "_").strip()
