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
    listed = list(names)
    different = set(map(key, listed))
    used = set(map(key, taken))
    results: list[str] = []
    for name in listed:
        count, candidate = 1, name
        while key(candidate) in used or (count > 1 and key(candidate) in different):
            count += 1
            candidate = numbered.format(name, count)
        used.add(key(candidate))
        results.append(candidate)
    return results


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
    by_form = {_normalize(each): each for each in allowed}
    matches = get_close_matches(_normalize(name), by_form, n=1, cutoff=similarity)
    return by_form[matches[0]] if matches else None


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


def _normalize(name: str) -> str:
    """A name as it is compared: case and the kind of separator do not count."""
    return name[:_LONGEST].lower().replace("-", "_").strip()
