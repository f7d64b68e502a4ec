"""Names and figures that changed places."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise

from sifaka.text.compared_text import (
    EMPTY,
    STEM,
    WORD,
    Side,
    form_of,
)
from sifaka.text.prose import blanked
from sifaka.text.statements import Statement


def crossed_places(old: Side, new: Side) -> Iterator[tuple[str, str]]:
    """Two names or figures, each beside what the other one stood beside.

    Looked at is the nearest word or statement in their line, before them or behind, that both
    texts have once.
    """
    known, listed = {_key(s): s for s in old.statements}, set[str]()
    first, second = _once(old), _once(new)
    kept = ([key for key in first if key in second], [key for key in second if key in first])
    for step in (1, -1):
        was, stands = (
            {b: a for a, b in pairwise(keys[::step]) if lines[a] == lines[b]}
            for keys, lines in zip(kept, (first, second), strict=True)
        )
        at = {(was[key], stands[key]): key for key in was.keys() & stands.keys() & known.keys()}
        for (one, two), key in at.items():
            other = at.get((two, one), key)
            mine, its = known[key], known[other]
            if key < other and (mine.kind, form_of(mine)) == (its.kind, form_of(its)):
                if listed.isdisjoint((one, two)):
                    yield mine.text, its.text
                listed |= {key, other}


def _once(side: Side) -> dict[str, int]:
    """The statements and the stems of the words that a text has once, in order, and their lines."""
    stated = [(s.start, _key(s)) for s in side.statements if s.kind != "quote"]
    rest = blanked(side.text, [(s.start, s.end) for s in side.statements if s.kind != "quote"])
    words = [(m.start(), m.group().casefold()) for m in WORD.finditer(rest)]
    told = sorted([*stated, *((at, w[:STEM]) for at, w in words if w not in EMPTY)])
    counts = Counter(key for _, key in told)
    ends = [m.start() for m in re.finditer("\n", side.text)]
    return {key: bisect_left(ends, at) for at, key in told if counts[key] == 1}


def _key(statement: Statement) -> str:
    return f"={statement.kind} {statement.value}"


_PLACED = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")
_MOVABLE = 12
"""Names and figures of a sentence whose order is looked at."""


def is_crossed(one: str, other: str) -> bool:
    """True when two names or figures of a sentence changed places, and what is around did not."""
    first, second = _neighbours(one), _neighbours(other)

    def fits(x: str, y: str) -> int:
        return sum(a == b for a, b in zip(first[x], second[y], strict=True))

    both = [word for word in first if word in second][:_MOVABLE]
    return any(
        fits(x, y) > fits(x, x) and fits(y, x) > fits(y, y) for x, y in combinations(both, 2)
    )


def _neighbours(sentence: str) -> dict[str, tuple[str, ...]]:
    """The names and figures that stand once in a sentence, each with the words around it."""
    tokens = _PLACED.findall(sentence[:2000])
    counts = Counter(token.lower() for token in tokens)
    movable = [
        token[0].isdigit() or (token[0].isupper() and token.lower() not in EMPTY)
        for token in tokens
    ]
    plain = [
        "",
        *(token.lower() for token, moves in zip(tokens, movable, strict=True) if not moves),
    ]
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    for token, moves in zip(tokens, movable, strict=True):
        at += not moves
        if moves and counts[token.lower()] == 1:
            found[token.lower()] = tuple([*plain, "", ""][at : at + 3])
    return found
