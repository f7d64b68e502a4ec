"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 60
"""Characters of a name that are compared: the time grows with their square."""
_SIMILARITY = 0.6


def closest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that is most similar to a misspelt one; None when none is similar."""
    by_form = {_form(each): each for each in allowed}
    found = get_close_matches(_form(name), by_form, n=1, cutoff=_SIMILARITY)
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
