"""Checking a text for mistakes as a linter does: places, rules and fixes, without any model."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sifaka.editor import Edit, apply
from sifaka.editor.edit import ROUNDS
from sifaka.editor.report import GRAMMAR_LIMIT, LONG_TEXT, findings
from sifaka.record.results import Issue
from sifaka.tasks.rules import RuleChoice
from sifaka.text.input import check_text

FixTier = Literal["none", "safe", "suggested"]
"""The fixes that are made: none, those that are certain, or those that are suggested as well."""
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding, and its place as editors count: lines and columns from 1, in characters."""

    rule: str
    message: str
    category: str
    severity: int
    """1 is a matter of taste, 5 makes the text unusable."""
    start: int
    """Offset of the first character, from 0."""
    end: int
    """Offset after the last one."""
    line: int
    column: int
    end_line: int
    end_column: int
    """The column after the last character."""
    quote: str
    fix: str | None
    """What to put in the place; None when no rule knows."""
    safe: bool
    """True when the fix is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """What is wrong with a text, after the fixes that were asked for."""

    text: str
    """The text with its fixes."""
    diagnostics: tuple[Diagnostic, ...]
    """What is left in it, in text order."""
    edits: tuple[Edit, ...] = ()
    """The fixes that were made; the offsets of later rounds are those of the text before them."""
    degraded: tuple[str, ...] = ()
    """One line for each check that could not run."""
    skipped: tuple[str, ...] = ()
    """One line for each check that was left out for this text, such as for its length."""


def check(
    text: str,
    rules: RuleChoice | None = None,
    *,
    words: frozenset[str] = frozenset(),
    fixes: FixTier = "none",
) -> CheckedText:
    """Find the mistakes in a text, and fix those that are to be fixed.

    Args:
        text: The text.
        rules: The rules that are wanted; all when None.
        words: Accepted words in small letters: no misspelling of them is reported.
        fixes: The fixes to make.

    Raises:
        ConfigurationError: The text is too long, or contains NUL or half of a surrogate pair.
    """
    wanted = rules or RuleChoice()
    before = check_text(text)
    report = _look(before, wanted, words)
    if fixes == "none":
        return report
    edits: tuple[Edit, ...] = ()
    for _ in range(1 if len(text) > LONG_TEXT else ROUNDS):
        done = apply(report.text, _fixable(report, fixes))
        if not done.edits:
            break
        edits += done.edits
        report = _look(done.text, wanted, words)
    else:
        if len(text) <= LONG_TEXT and apply(report.text, _fixable(report, fixes)).edits:
            # It does not settle, so that the next check would change it again.
            return _look(before, wanted, words)
    return CheckedText(
        text=report.text,
        diagnostics=report.diagnostics,
        edits=edits,
        degraded=report.degraded,
        skipped=report.skipped,
    )


def _look(text: str, wanted: RuleChoice, words: frozenset[str]) -> CheckedText:
    finders = dict(wanted.finders())
    skipped: tuple[str, ...] = ()
    if len(text) > GRAMMAR_LIMIT and finders.pop("grammar", None):
        skipped = (f"grammar: not checked, the text has more than {GRAMMAR_LIMIT:,} characters",)
    issues, degraded = findings(text, finders.values())
    kept = (i for i in issues if wanted.wants(i.rule or i.category) and not _accepts(words, i))
    return CheckedText(
        text=text,
        diagnostics=tuple(_diagnostics(text, kept)),
        degraded=degraded,
        skipped=skipped,
    )


def _accepts(words: frozenset[str], issue: Issue) -> bool:
    return issue.category == "spelling" and issue.quote.lower() in words


def _fixable(report: CheckedText, fixes: FixTier) -> Iterator[Issue]:
    for found in report.diagnostics:
        if found.fix is not None and (found.safe or fixes == "suggested"):
            yield Issue.at(
                report.text,
                found.start,
                found.end,
                found.message,
                rule=found.rule,
                category=found.category,
                fix=found.fix,
                safe=True,
            )


def _diagnostics(text: str, issues: Iterator[Issue]) -> Iterator[Diagnostic]:
    lines = LineTable(text)
    for issue in issues:
        start, end = issue.start or 0, issue.end or 0
        line, column = lines.place(start)
        end_line, end_column = lines.place(end)
        yield Diagnostic(
            rule=issue.rule or issue.category,
            message=issue.message,
            category=issue.category,
            severity=issue.severity,
            start=start,
            end=end,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            quote=issue.quote,
            fix=issue.fix,
            safe=issue.safe,
        )


@dataclass(frozen=True)
class LineTable:
    """The lines of a text, whatever line ends it has."""

    text: str

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
