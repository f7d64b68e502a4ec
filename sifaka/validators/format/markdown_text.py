"""Markdown: what is surely broken fails, what is only styled differently is advice."""

import re
from collections.abc import Iterator
from typing import Any

from sifaka.record.results import Issue, ValidationResult
from sifaka.text.markdown import Markdown, read_markdown
from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of, table
from sifaka.validators.spec import ISSUE_LIMIT

BROKEN = 3
"""From this severity on an issue fails the text."""
_PATTERNS = patterns_of(__file__, "markdown")
_BROKEN_LINKS = {
    re.compile(row["pattern"]): row["message"] for row in table(__file__, "patterns")["broken_link"]
}


def check(text: str) -> ValidationResult:
    """Check that the text means what its author must have meant.

    Every text is Markdown to a parser, so this looks for marks that did not become what they look
    like: unclosed fences, headings and lists without a space, skipped heading levels, ragged
    tables, broken links and undefined references.
    """
    source = read_markdown(text)
    checks = (_check_fences, _check_levels, _check_spaces, _check_tables, _check_links)
    faults = (issue for check in checks for issue in check(source))
    issues = sorted(faults, key=lambda each: each.start or 0)
    broken = [issue for issue in issues if issue.severity >= BROKEN]
    shown = tuple(sorted(issues, key=lambda each: each.severity < BROKEN)[:ISSUE_LIMIT])
    if not broken:
        return ValidationResult(passed=True, message="well-formed Markdown", issues=shown)
    count = "1 place is" if len(broken) == 1 else f"{len(broken)} places are"
    return ValidationResult(
        passed=False,
        message=f"{count} broken Markdown: {broken[0].message}",
        score=1 / (1 + len(broken)),
        issues=shown,
        suggestions=tuple(dict.fromkeys(issue.message for issue in broken[:5])),
    )


def _issue(source: Markdown, span: Span, message: str, rule: str, **more: Any) -> Issue:
    return Issue.at(source.text, *span, message, category="format", rule=rule, **more)


# --- fences, headings, lists and tables ---


def _check_fences(source: Markdown) -> Iterator[Issue]:
    newline = "\r\n" if "\r\n" in source.text else "\n"
    for fence in source.fences:
        if not fence.closed:
            span = fence.line, fence.end
            # A fence in a list or quote needs that container's marks on its last line.
            fix = None if fence.depth else f"{source.text[slice(*span)]}{newline}{fence.mark}"
            safe = fix is not None and fence.end == len(source.text.rstrip("\r\n"))
            message = "close the code fence"
            yield _issue(source, span, message, "fence", severity=4, fix=fix, safe=safe)


def _check_levels(source: Markdown) -> Iterator[Issue]:
    previous = 0
    for block in filter(lambda block: block.level, source.blocks):
        if previous and block.level > previous + 1:
            own = source.text[block.start : block.stop].rstrip("\r\n")
            message = f"use heading level {previous + 1} after level {previous}, not {block.level}"
            yield _issue(source, (block.start, block.start + len(own)), message, "heading_level")
        previous = block.level


def _check_spaces(source: Markdown) -> Iterator[Issue]:
    for token in source.tokens:
        if token.type != "paragraph_open" or token.map is None or token.level:
            continue
        start, end = source.place(*token.map)
        block = source.masked((start, end))
        for heading in _PATTERNS["tight_heading"].finditer(block):
            # `#word` is a hashtag as often as a heading.
            certain = len(heading[1]) > 1
            if certain or " " in heading[2]:
                yield _issue(
                    source,
                    (start + heading.start(1), start + heading.end(1)),
                    f"put a space after {heading[1]}",
                    "heading_space",
                    severity=3 if certain else 2,
                    fix=f"{heading[1]} ",
                )
        items = list(_PATTERNS["tight_item"].finditer(block))
        if len(items) > 1 and items[0].start() == 0:
            message = "put a space after the list marker"
            for item in items:
                span = start + item.start(), start + item.end()
                yield _issue(source, span, message, "list_space", fix=f"{item.group()} ")


def _check_tables(source: Markdown) -> Iterator[Issue]:
    """Rows that are too long or short, and tables whose delimiter row does not fit."""
    columns, header = 0, False
    for token in source.tokens:
        if token.type == "table_open":
            columns, header = 0, True
        elif token.type == "th_open":
            columns += 1
        elif token.type == "tbody_open":
            header = False
        elif token.type == "tr_open" and not header and token.map is not None:
            yield from _check_row(source, token.map[0], "row", columns)
        elif token.type == "paragraph_open" and token.map is not None:
            yield from _check_delimiters(source, *token.map)


def _check_delimiters(source: Markdown, first: int, last: int) -> Iterator[Issue]:
    for number in range(first + 1, last):
        line, before = _content(source, number), source.line(number - 1)
        if "|" in line and "|" in before and _PATTERNS["delimiter"].match(line):
            yield from _check_row(source, number, "delimiter row", _count_cells(source, number - 1))


def _check_row(source: Markdown, line: int, what: str, columns: int) -> Iterator[Issue]:
    cells = _count_cells(source, line)
    if cells != columns:
        message = (
            f"give this table {what} {columns} {'cell' if columns == 1 else 'cells'} "
            f"like the header, not {cells}"
        )
        severity = 4 if cells > columns or what != "row" else 3
        span = source.place(line, line + 1)
        yield _issue(source, span, message, "table_columns", severity=severity)


def _content(source: Markdown, line: int) -> str:
    """A line without the marks of the lists and quotes around it."""
    return _PATTERNS["container"].sub("", source.line(line)).strip()


def _count_cells(source: Markdown, line: int) -> int:
    row = _content(source, line).removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return len(_PATTERNS["pipe"].findall(row)) + 1


# --- links ---


def _check_links(source: Markdown) -> Iterator[Issue]:
    """Links that did not become links, and references to nothing."""
    notes = {key.casefold() for key in _PATTERNS["footnote_definition"].findall(source.body)}
    for start, end in source.places("paragraph_open", "heading_open", "table_open"):
        block = source.masked((start, end))
        for pattern, message in _BROKEN_LINKS.items() if "[" in block else ():
            for match in pattern.finditer(block):
                yield _issue(source, (start + match.start(), start + match.end()), message, "link")
        for message, (first, last) in _find_undefined(source, start, block, notes):
            yield _issue(source, (start + first, start + last), message, "reference")


def _find_undefined(
    source: Markdown, shift: int, block: str, notes: set[str]
) -> Iterator[tuple[str, Span]]:
    """The references of a block that are defined nowhere, each with what to do."""
    from markdown_it.common.utils import normalizeReference

    for match in _PATTERNS["reference"].finditer(block):
        # Inline code in a label is masked in the block, so the label is read from the text.
        label, key = (
            source.text[shift + match.start(part) : shift + match.end(part)]
            for part in ("label", "key")
        )
        key = key or label
        is_text = (label.isdigit() and key.isdigit()) or key.startswith("^") or not label.strip()
        if not is_text and normalizeReference(key) not in source.references:
            yield f"define the reference [{key}] or write the target in parentheses", match.span()
    for match in _PATTERNS["footnote"].finditer(block):
        key = match["key"].casefold()
        if key not in notes and (notes or key.isdigit()):
            yield f"define the footnote [^{match['key']}]", match.span()
