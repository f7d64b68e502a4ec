"""Checking a text for mistakes as a linter does: places, rules and fixes, without any model."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from pathlib import PurePath

from sifaka.editor import Edit, Tier, lint
from sifaka.editor.edit import settle
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.style import worst_habits
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Fixes
from sifaka.record.results import Issue
from sifaka.tasks.rules import RuleChoice, RuleException, exceptions
from sifaka.text.formats import UNCHECKED, Format, recognise
from sifaka.text.input import check_text

_TIERS: Mapping[Fixes, tuple[Tier, ...]] = {
    "none": (),
    "safe": ("safe",),
    "suggested": ("safe", "suggested"),
}
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
    """One line for each check that could not run, because a tool is missing or has failed."""
    skipped: tuple[str, ...] = ()
    """One line for each check that was left out for this text, such as for its language."""


def check(
    text: str,
    rules: RuleChoice | None = None,
    *,
    format: Format | None = None,
    path: str | PurePath | None = None,
    words: frozenset[str] = frozenset(),
    fixes: Fixes = "none",
    min_style: int = 0,
) -> CheckedText:
    """Find the mistakes in a text, and fix those that are to be fixed.

    Args:
        text: The text.
        rules: The rules that are wanted; all when None.
        format: Its format; recognised by its path and its look when None.
        path: The name of its file.
        words: Accepted words in small letters: no misspelling of them is reported.
        fixes: The fixes to make.
        min_style: The least score of the critic `style`, 0 to 100; a lower one is a finding.

    Raises:
        ConfigurationError: The text is too long, or contains NUL or half of a surrogate pair, or is
            of a format that is not checked.
    """
    check_text(text)
    format = format or recognise(text, path)
    if format in UNCHECKED:
        raise ConfigurationError(f"{UNCHECKED[format]}; --as text checks it as plain text")
    look = partial(
        _look, rules=rules or RuleChoice(), words=words, format=format, min_style=min_style
    )
    report = look(text)
    for tier in _TIERS[fixes]:
        rounds = settle(report.text, lambda text: _issues(look(text)), tier, format)
        if rounds:
            made = tuple(edit for each in rounds for edit in each.edits)
            report = replace(look(rounds[-1].text), edits=report.edits + made)
    return report


def _look(
    text: str, *, rules: RuleChoice, words: frozenset[str], format: Format, min_style: int
) -> CheckedText:
    found = lint(text, format=format, rules=dict(rules.finders()))
    kept = [i for i in found.issues if rules.wants(i.rule or i.category) and not _accepts(words, i)]
    score = worst_habits(ParsedText.read(text, format), 0)[1] if min_style else None
    if score is not None and 100 * score < min_style:
        message = f"stock prose: {100 * score:.0f} of 100, at least {min_style}"
        kept.insert(0, Issue.at(text, 0, 0, message, category="style", rule="style.score"))
    told = list(exceptions(text))
    off = sorted(
        (each for each in told if isinstance(each, RuleException)), key=attrgetter("first")
    )
    skipped = [each for each in told if isinstance(each, str)]
    if min_style and score is None:
        skipped.append("style: no score, there are too few words in English")
    return CheckedText(
        text=text,
        diagnostics=tuple(_without(off, _diagnostics(text, kept))),
        degraded=found.failed,
        skipped=(*skipped, *(line for line in found.degraded if line not in found.failed)),
    )


def _without(off: Sequence[RuleException], found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings, in text order, that no exception covers; those come by their first lines."""
    waiting = deque(off)
    reached: list[RuleException] = []
    for each in found:
        while waiting and waiting[0].first <= each.line:
            reached.append(waiting.popleft())
        reached = [one for one in reached if one.last >= each.line]
        if not any(one.covers(each.line, each.rule) for one in reached):
            yield each


def _accepts(words: frozenset[str], issue: Issue) -> bool:
    return issue.category == "spelling" and issue.quote.lower() in words


def _issues(report: CheckedText) -> Iterator[Issue]:
    for found in report.diagnostics:
        yield Issue.at(
            report.text,
            found.start,
            found.end,
            found.message,
            rule=found.rule,
            category=found.category,
            fix=found.fix,
            safe=found.safe,
        )


def _diagnostics(text: str, issues: Iterable[Issue]) -> Iterator[Diagnostic]:
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
