"""Finding what is wrong with a text."""

import logging
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sifaka.calls.failure_log import report_failure
from sifaka.editor.encoding import encoding
from sifaka.editor.grammar import grammar
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import articles, capitals, nouns, repetition, spacing
from sifaka.editor.protection import Cover
from sifaka.editor.spelling import confusions, spelling
from sifaka.errors import PluginError
from sifaka.record.results import Issue
from sifaka.text.formats import UNCHECKED, Format, recognise
from sifaka.text.prose import Span

logger = logging.getLogger(__name__)

Rule = Callable[[ParsedText], Iterable[Issue]]
"""Finds one kind of mistake; raises `PluginError` when a tool it needs is missing."""

RULES: Mapping[str, Rule] = {
    "encoding": encoding,
    "repetition": repetition,
    "articles": articles,
    "spacing": spacing,
    "contractions": partial(confusions, contracted=True),
    "confusions": confusions,
    "nouns": nouns,
    "capitals": capitals,
    "spelling": spelling,
    "grammar": grammar,
}
"""What finds mistakes; where two want the same place the earlier one gets it."""

LONG_TEXT = 200_000
"""Characters beyond which a text is checked with less care, to stay within seconds."""

_SOME = 0.01
"""The least share in other languages that is worth a line."""
MOSTLY = 0.5
"""The share in other languages from which a text is not English."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """The findings, and the rules that could not run."""

    issues: tuple[Issue, ...]
    """In text order; none overlaps a safe one."""
    degraded: tuple[str, ...]
    """One line for each check that did not run."""
    failed: tuple[str, ...] = ()
    """Those of the lines that tell of a tool that is missing or has failed."""
    format: Format
    """The format the text was read as."""
    checked: bool = True
    """False when nothing of the text was checked; `degraded` has the reason."""


def lint(
    text: str, *, format: Format | None = None, rules: Mapping[str, Rule] | None = None
) -> Lint:
    """Every mistake the rules and the optional tools find in a text.

    None is looked for in source code, in data, and in a text that is mostly in another language
    than English; `degraded` says so.

    Args:
        text: The text to check.
        format: Its format; recognised by its look when None.
        rules: The rules by their names in `RULES`; all when None.
    """
    format = format or recognise(text)
    if format in UNCHECKED:
        line = f"format: {UNCHECKED[format]}"
        return Lint(issues=(), degraded=(line,), format=format, checked=False)
    wanted = RULES if rules is None else rules
    parsed = ParsedText.read(text, format)
    issues, failed = findings(parsed, wanted)
    elsewhere = parsed.foreign_share if parsed.foreign else 0.0
    degraded = failed
    if elsewhere > MOSTLY:
        degraded = ("language: not checked, the text is not in English", *failed)
    elif elsewhere >= _SOME:
        line = f"language: {elsewhere:.0%} of the text is not in English, and not checked"
        degraded = (*failed, line)
    checked = elsewhere <= MOSTLY
    return Lint(issues=issues, degraded=degraded, failed=failed, format=format, checked=checked)


def findings(
    parsed: ParsedText, rules: Mapping[str, Rule]
) -> tuple[tuple[Issue, ...], tuple[str, ...]]:
    """The findings of some rules, and a line for each rule that could not run."""
    issues: list[Issue] = []
    degraded: list[str] = []
    for name, rule in rules.items():
        try:
            if rule not in parsed.found:
                parsed.found[rule] = tuple(rule(parsed))
            issues.extend(parsed.found[rule])
        except PluginError as error:
            degraded.append(error.message)
        # One rule that stumbles over a text costs that rule, not the text.
        except Exception as error:  # noqa: BLE001
            report_failure(logger, f"editor:{name}", error)
            degraded.append(f"{name}: not checked, because of a bug ({type(error).__name__})")
    return _without_overlaps(issues) if issues else (), tuple(degraded)


def _without_overlaps(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    # Safe ones first; otherwise the order of the rules decides, because sorting is stable.
    kept: list[Issue] = []
    taken: list[Span] = []
    cover = Cover(taken)
    for issue in sorted(issues, key=lambda issue: not issue.safe):
        if not cover.touches(*_span_of(issue)):
            insort(taken, _span_of(issue))
            kept.append(issue)
    return tuple(sorted(kept, key=_span_of))


def _span_of(issue: Issue) -> Span:
    return (issue.start or 0, issue.end or 0)
