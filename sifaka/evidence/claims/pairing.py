"""Two things that a claim joins, and that a sentence says in two parts, each with another."""

import re
from bisect import bisect_left
from itertools import permutations
from typing import NamedTuple

from sifaka.evidence.claims.bounds import MOST_FACTS, counted
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import Reading, names_of

_SPLIT = re.compile(
    r"\s(?:and|und|et|y|e)\s|\sto\s(?=[$€£]?\d)|\sauf\s(?=\d)|[;,](?=\s)", re.IGNORECASE
)
"""The ends of parts that may each have a name, a place or a number of their own."""
_REACH = 20
_PREPOSITION = re.compile(
    r"\b(by|from|in|at|to|with|for|of|on|von|in|aus|auf|mit|par|de|à|en|por|per|bei)\s+[$€£]?$",
    re.IGNORECASE,
)


class _Thing(NamedTuple):
    """A number, a date or a name that follows a preposition."""

    kind: tuple[str, str, str]
    """Its kind, its unit, and the preposition before it."""
    key: object
    shown: str
    start: int


def paired_otherwise(claim: Reading, sentence: Reading) -> str:
    """The reason where a claim joins two things that a sentence has in two parts with others.

    `Found by Sousa in Porto and by Arai in Sendai`: Sousa stands with Porto, not with Sendai.
    """
    theirs = _things(sentence)
    ends = [at.start() for at in _SPLIT.finditer(sentence.text)]
    part = {thing: bisect_left(ends, thing.start) for thing in theirs}
    told = {_key(fact) for fact in (*counted(claim), *names_of(claim))}
    ours = [thing for thing in theirs if thing.key in told][:MOST_FACTS]
    together = {(one.key, other.key) for one, other in permutations(ours, 2)
                if part[one] == part[other]}  # fmt: skip
    for one, other in permutations(ours, 2):
        if one.kind == other.kind or (one.key, other.key) in together:
            continue
        with_one, with_other = (
            [each for each in theirs if part[each] == part[here] and each.kind == kind]
            for here, kind in ((one, other.kind), (other, one.kind))
        )
        if with_one and with_other and not told & {e.key for e in (*with_one, *with_other)}:
            return f"the words quoted say {one.shown!r} with {with_one[0].shown!r}"
    return ""


def _things(reading: Reading) -> list[_Thing]:
    found = [*counted(reading), *names_of(reading)]
    return [
        _Thing(
            (fact.kind, fact.unit, before[1].casefold() if fact.kind == "name" else ""),
            _key(fact),
            fact.shown,
            fact.start,
        )
        for fact in found
        if (before := _PREPOSITION.search(reading.text[: fact.start][-_REACH:]))
    ]


def _key(fact: Fact) -> object:
    return fact.keys or fact.shown.casefold()
