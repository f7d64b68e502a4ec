"""Reads the rules for stock prose, finds what they name in a text, and scores it."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import log2
from pathlib import Path
from typing import Any

from sifaka.editor.style import forms
from sifaka.editor.style.prose import Prose
from sifaka.text.prose import Span
from sifaka.text.tables import table

HALF = 6.0
"""Points per 100 words at which the score has fallen to a half."""
USUAL = 0.75
"""The score below which few texts of people are; the table is in docs/quality.md."""
SHORT = 60
"""Words below which a text has no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the findings of some rules have in common."""

    why: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRule:
    """Phrases, or the measure of a form."""

    name: str
    kind: str
    weight: float
    phrases: str = ""
    """First words and what follows them, one a line, as `phrases.toml` explains."""
    before: str = ""
    """What phrases follow: `comma`, `start` (of a sentence), or anything."""
    measure: str = ""
    """The function of `sifaka.editor.style.forms`."""
    above: float = 0.0
    """What is usual, in the unit of the measure."""
    measured: date | None = None
    """The day on which its weight was last held against texts of models and of people."""
    found: tuple[str, ...] = ()
    """Texts in which it finds something."""
    missed: tuple[str, ...] = ()
    """Texts in which it finds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """What was found of one kind."""

    kind: str
    points: float
    places: Sequence[Span]
    """From the heaviest rule to the lightest, those of one rule in text order."""


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of findings by their names."""
    return {name: Kind(**kind) for file in _files() for name, kind in file["kinds"].items()}


@cache
def rules() -> Sequence[StyleRule]:
    """Every rule, from the heaviest to the lightest."""
    found = [StyleRule(**rule) for file in _files() for rule in file["rule"]]
    return sorted(found, key=lambda rule: -rule.weight)


def habits(prose: Prose) -> list[Habit]:
    """What is found in a text, by kind, from the heaviest to the lightest."""
    found = places_of(prose)
    points: dict[str, float] = defaultdict(float)
    places: dict[str, list[Span]] = defaultdict(list)
    for rule in rules():
        if spans := found.get(rule.name):
            # The second one says less than the first one did, and a measure has counted already.
            points[rule.kind] += rule.weight * (1 if rule.measure else log2(1 + len(spans)))
            places[rule.kind] += spans
    every = [Habit(kind=kind, points=points[kind], places=places[kind]) for kind in points]
    return sorted(every, key=lambda habit: -habit.points)


def score_of(found: Sequence[Habit], words: int) -> float:
    """0 for a text of nothing but stock prose, 1 for one without any."""
    points = sum(habit.points for habit in found)
    return HALF / (HALF + 100 * points / (max(words, SHORT) + 100))


def places_of(prose: Prose) -> Mapping[str, Sequence[Span]]:
    """What each rule finds, in text order."""
    places: dict[str, list[Span]] = defaultdict(list)
    first, end = _by_first_word(), 0
    for word, start, stop in prose.tokens:
        for rule, rest in first.get(word, ()) if start >= end else ():
            match = _compiled(rest).match(prose.text, stop)
            if match and _stands(rule.before, prose, start):
                end = match.end()
                places[rule.name].append((start, end))
                break
    for rule in rules():
        if rule.measure:
            measure: Callable[[Prose, float], Sequence[Span]] = getattr(forms, rule.measure)
            places[rule.name] += measure(prose, rule.above)
    return places


def _stands(before: str, prose: Prose, start: int) -> bool:
    if before == "comma":
        return prose.text[max(0, start - 2) : start].strip() == ","
    return not before or start in prose.starts


@cache
def _by_first_word() -> Mapping[str, Sequence[tuple[StyleRule, str]]]:
    """What may follow each word that a phrase begins with, from the heaviest rule on."""
    found: dict[str, list[tuple[StyleRule, str]]] = defaultdict(list)
    for rule in rules():
        for line in rule.phrases.replace("'", "['’]").splitlines():
            words, sign, rest = re.split(r"( >>? |$)", line, maxsplit=1)
            gap = r"\s{1,3}" if sign == " > " else ""
            for word in words.replace("['’]", "'").split():
                found[word].append((rule, rf"{gap}(?:{rest})(?!\w)"))
    return found


# Most texts hold few of the first words: a pattern is made when it is first looked at.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _files() -> Sequence[Mapping[str, Any]]:
    return [table(__file__, file.stem) for file in sorted(Path(__file__).parent.glob("*.toml"))]
