"""Finding what is wrong with a text."""

import json
import sys
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sifaka.editor.articles import articles
from sifaka.editor.commas import commas
from sifaka.editor.contractions import contractions
from sifaka.editor.encoding import encoding
from sifaka.editor.grammar import grammar
from sifaka.editor.latin import latin
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.repetition import repetition
from sifaka.editor.spelling import spelling
from sifaka.editor.style import style
from sifaka.editor.whitespace import spacing
from sifaka.editor.wordiness import wordiness
from sifaka.errors import PluginError
from sifaka.record.results import Issue
from sifaka.text.prose import Span

Rule = Callable[[ParsedText], Iterable[Issue]]
"""Finds one kind of mistake; raises `PluginError` when a tool it needs is missing."""

RULES: Mapping[str, Rule] = {
    "encoding": encoding,
    "repetition": repetition,
    "wordiness": wordiness,
    "articles": articles,
    "latin": latin,
    "commas": commas,
    "spacing": spacing,
    "contractions": contractions,
    "spelling": spelling,
    "grammar": grammar,
}
"""The rules that may find safe fixes; where two want the same place the earlier one gets it."""

ADVISORS: Mapping[str, Rule] = {"style": style}
"""The rules that only suggest."""

LONG_TEXT = 200_000
"""Characters beyond which a text is checked with less care, to stay within seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """The findings, and the rules that could not run."""

    issues: tuple[Issue, ...]
    """In text order; none overlaps a safe one."""
    degraded: tuple[str, ...]
    """One line for each check that did not run."""


def lint(text: str) -> Lint:
    """Every mistake the rules and the optional tools find in a text.

    A text that is a JSON object or array has none: it is data.
    """
    issues, degraded = findings(text, [*RULES.values(), *ADVISORS.values()])
    return Lint(issues=issues, degraded=degraded)


def findings(text: str, rules: Iterable[Rule]) -> tuple[tuple[Issue, ...], tuple[str, ...]]:
    """The findings of some rules, and a line for each rule that could not run."""
    if is_data(text):
        return (), ()
    parsed = ParsedText(text)
    issues: list[Issue] = []
    degraded: list[str] = []
    for rule in rules:
        try:
            issues.extend(rule(parsed))
        except PluginError as error:
            degraded.append(error.message)
    return _without_overlaps(issues), tuple(degraded)


def is_data(text: str) -> bool:
    """True when the text is a JSON object or array."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without_overlaps(issues: list[Issue]) -> tuple[Issue, ...]:
    # Safe ones first; otherwise the order of the rules decides, because sorting is stable.
    kept: list[Issue] = []
    taken: list[Span] = []
    for issue in sorted(issues, key=lambda issue: not issue.safe):
        # A long sentence is always reported, with or without other mistakes in it.
        if issue.rule != "long_sentence":
            start, end = place = _place(issue)
            # The last place that begins before this one ends; earlier ones end before it begins.
            index = bisect_right(taken, (max(end - 1, start), sys.maxsize)) - 1
            if index >= 0 and taken[index][1] > start and (start < end or taken[index][0] < start):
                continue
            insort(taken, place)
        kept.append(issue)
    return tuple(sorted(kept, key=_place))


def _place(issue: Issue) -> Span:
    return (issue.start or 0, issue.end or 0)
