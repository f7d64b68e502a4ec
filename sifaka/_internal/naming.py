"""Names that tell things of one name apart."""

from collections.abc import Iterable


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
