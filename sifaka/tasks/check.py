"""Checking a text for mistakes as a linter does, by chosen rules and without any model."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath

from sifaka.editor import AppliedEdit, RuleChoice, edit, lint
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.rules import stock_prose
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Fixes
from sifaka.record.results import Issue
from sifaka.text.formats import UNCHECKED, Format, recognise
from sifaka.text.input import check_text

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
    fingerprint: str
    """The same for the same finding when the text around its line has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """What is wrong with a text, after the fixes that were asked for."""

    text: str
    """The text with its fixes."""
    diagnostics: tuple[Diagnostic, ...]
    """What is left in it, in text order."""
    edits: tuple[AppliedEdit, ...] = ()
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
    fixes: Fixes = "none",
    min_style: int = 0,
) -> CheckedText:
    """Find the mistakes in a text, and fix those that are to be fixed.

    Args:
        text: The text.
        rules: The rules that are wanted; `default` when None.
        format: Its format; recognised by its path and its look when None.
        path: The name of its file.
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
    edits: tuple[AppliedEdit, ...] = ()
    if fixes != "none":
        tier = "suggested" if fixes == "suggested" else "safe"
        edited = edit(text, fixes=tier, format=format, rules=rules)
        text, edits = edited.text, edited.edits
    report, parsed = lint(text, format=format, rules=rules), ParsedText.read(text, format)
    issues = list(report.issues)
    skipped = [line for line in report.degraded if line not in report.failed]
    if min_style:
        score = stock_prose(parsed, 0, rules)[1]
        if score is None:
            skipped.append("style: no score, there are too few words in English")
        elif 100 * score < min_style:
            message = f"stock prose: {100 * score:.0f} of 100, at least {min_style}"
            issues.insert(0, Issue.at(text, 0, 0, message, category="style", rule="style.score"))
    return CheckedText(
        text=text,
        diagnostics=tuple(_locate_issues(parsed, issues)),
        edits=edits,
        degraded=report.failed,
        skipped=tuple(skipped),
    )


def _locate_issues(parsed: ParsedText, issues: Iterable[Issue]) -> Iterator[Diagnostic]:
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(parsed.text))]

    def position(offset: int) -> tuple[int, int]:
        line = bisect_right(line_starts, offset)
        return line, offset - line_starts[line - 1] + 1

    seen = Counter[str]()
    for issue in issues:
        start, end = issue.start or 0, issue.end or 0
        rule = issue.rule or issue.category
        line, column = position(start)
        end_line, end_column = position(end)
        same = "\0".join((rule, issue.quote, parsed.line(start).strip()))
        seen[same] += 1
        yield Diagnostic(
            rule=rule,
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
            fingerprint=sha256(f"{same}\0{seen[same]}".encode()).hexdigest()[:16],
        )
