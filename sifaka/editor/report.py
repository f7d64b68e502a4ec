"""Finding what is wrong with a text."""

import logging
from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from sifaka.calls.failure_log import report_failure
from sifaka.editor.grammar import grammar_of
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.protection import Cover
from sifaka.editor.rules import BY_DEFAULT, SIGN, finders, wanted
from sifaka.errors import PluginError
from sifaka.record.results import Issue
from sifaka.record.rule_choice import RuleChoice
from sifaka.text.formats import UNCHECKED, Format, recognise
from sifaka.text.prose import Span

logger = logging.getLogger(__name__)

LONG_TEXT = 200_000
"""Characters beyond which a text is checked with less care, to stay within seconds."""

AHEAD = 50_000
"""The most characters of a text that is read before its turn."""
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
    checked: bool = True
    """False when nothing of the text was checked; `degraded` has the reason."""


def lint(text: str, *, format: Format | None = None, rules: RuleChoice | None = None) -> Lint:
    """Every mistake the rules and the optional tools find in a text.

    None is looked for in source code, in data, and in a text that is mostly in another language
    than English; `degraded` says so.

    Args:
        text: The text to check.
        format: Its format; recognised by its look when None.
        rules: The rules that are wanted; `default` when None.
    """
    format = format or recognise(text)
    if format in UNCHECKED:
        line = f"format: {UNCHECKED[format]}"
        return Lint(issues=(), degraded=(line,), checked=False)
    parsed = ParsedText.read(text, format)
    report = find_issues(parsed, rules)
    elsewhere = parsed.foreign_share if parsed.foreign else 0.0
    if elsewhere > MOSTLY:
        line = "language: not checked, the text is not in English"
        return replace(report, degraded=(line, *report.degraded), checked=False)
    if elsewhere >= _SOME:
        line = f"language: {elsewhere:.0%} of the text is not in English, and not checked"
        return replace(report, degraded=(*report.degraded, line))
    return report


def find_issues(parsed: ParsedText, rules: RuleChoice | None = None) -> Lint:
    """What the rules that are wanted find in a text, where its comments do not switch them off.

    In any language; a comment that names an unknown rule has its line in `degraded`.
    """
    issues: list[Issue] = []
    failed: list[str] = []
    wrong: list[str] = []
    for name, rule in (BY_DEFAULT if rules is None else finders(rules)).items():
        try:
            if rule not in parsed.found:
                parsed.found[rule] = tuple(rule(parsed))
            issues.extend(parsed.found[rule])
        except PluginError as error:
            failed.append(error.message)
        # One rule that stumbles over a text costs that rule, not the text.
        except Exception as error:  # noqa: BLE001
            report_failure(logger, f"editor:{name}", error)
            failed.append(f"{name}: not checked, because of a bug ({type(error).__name__})")
    if issues or SIGN in parsed.text:
        issues, wrong = wanted(issues, parsed.text, rules or RuleChoice())
    return Lint(
        issues=_drop_overlaps(issues) if issues else (),
        degraded=(*failed, *wrong),
        failed=tuple(failed),
    )


def read_ahead(texts: Iterable[tuple[str, Format, RuleChoice]]) -> Sequence[object]:
    """What Harper finds in all of some texts; as long as it is kept `lint` need not ask again."""
    together: dict[partial[Iterable[Issue]], list[ParsedText]] = defaultdict(list)
    for text, format, choice in texts:
        rule = finders(choice).get("grammar")
        if isinstance(rule, partial) and format not in UNCHECKED and len(text) <= AHEAD:
            together[rule].append(ParsedText.read(text, format))
    for rule, parsed in together.items():
        with suppress(PluginError):  # reported when the text itself is checked
            for each, issues in zip(parsed, grammar_of(parsed, **rule.keywords), strict=True):
                each.found[rule] = issues
    return [*together.values()]


def _drop_overlaps(issues: Sequence[Issue]) -> tuple[Issue, ...]:
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
