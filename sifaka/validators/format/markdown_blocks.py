"""Fences, headings, lists and tables of Markdown."""

import re
from collections.abc import Iterator

from sifaka.record.results import Issue
from sifaka.text.markdown import Markdown

_TIGHT_HEADING = re.compile(r"^ {0,3}(#{1,6})(?=[^\W_])(?![^\n]*#)(?=([^\n]*))", re.MULTILINE)
_TIGHT_ITEM = re.compile(r"^[ \t]{0,3}(?:[-+](?=[^\W\d_])|\d{1,2}[.)](?=[^\W\d_]))", re.MULTILINE)
_CONTAINER = re.compile(r"^(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")


def block_issues(source: Markdown) -> Iterator[Issue]:
    """The broken blocks of a text."""
    yield from _open_fences(source)
    yield from _skipped_levels(source)
    yield from _missing_spaces(source)
    yield from _broken_tables(source)


def _open_fences(source: Markdown) -> Iterator[Issue]:
    newline = "\r\n" if "\r\n" in source.text else "\n"
    for fence in source.fences:
        if fence.closed:
            continue
        start, end = fence.line, fence.end
        # A fence in a list or quote needs that container's marks on its last line.
        fix = None if fence.depth else f"{source.text[start:end]}{newline}{fence.mark}"
        yield Issue.at(
            source.text, start, end, "close the code fence", category="format", severity=4,
            rule="fence", fix=fix, safe=fix is not None and end == len(source.text.rstrip("\r\n")),
        )  # fmt: skip


def _skipped_levels(source: Markdown) -> Iterator[Issue]:
    previous = 0
    for block in source.blocks:
        if not block.level:
            continue
        if previous and block.level > previous + 1:
            own = source.text[block.start : block.stop].rstrip("\r\n")
            yield Issue.at(
                source.text,
                block.start,
                block.start + len(own),
                f"use heading level {previous + 1} after level {previous}, not {block.level}",
                category="format",
                rule="heading_level",
            )
        previous = block.level


def _missing_spaces(source: Markdown) -> Iterator[Issue]:
    for token in source.tokens:
        if token.type != "paragraph_open" or token.map is None or token.level:
            continue
        start, end = source.place(*token.map)
        block = source.masked((start, end))
        for heading in _TIGHT_HEADING.finditer(block):
            # `#word` is a hashtag as often as a heading.
            certain = len(heading[1]) > 1
            if certain or " " in heading[2]:
                yield Issue.at(
                    source.text, start + heading.start(1), start + heading.end(1),
                    f"put a space after {heading[1]}", category="format",
                    severity=3 if certain else 2, rule="heading_space", fix=f"{heading[1]} ",
                )  # fmt: skip
        items = list(_TIGHT_ITEM.finditer(block))
        if len(items) > 1 and items[0].start() == 0:
            for item in items:
                yield Issue.at(
                    source.text, start + item.start(), start + item.end(),
                    "put a space after the list marker", category="format", rule="list_space",
                    fix=f"{item.group()} ",
                )  # fmt: skip


def _broken_tables(source: Markdown) -> Iterator[Issue]:
    """Rows that are too long or short, and tables whose delimiter row does not fit."""
    columns = 0
    header = False
    for token in source.tokens:
        if token.type == "table_open":
            columns, header = 0, True
        elif token.type == "th_open":
            columns += 1
        elif token.type == "tbody_open":
            header = False
        elif token.type == "tr_open" and not header and token.map is not None:
            cells = _cells(source.line(token.map[0]))
            if cells != columns:
                yield _issue(source, token.map[0], "row", cells, columns)
        elif token.type == "paragraph_open" and token.map is not None:
            yield from _not_a_table(source, *token.map)


def _not_a_table(source: Markdown, first: int, last: int) -> Iterator[Issue]:
    for number in range(first + 1, last):
        line = _content(source.line(number))
        before = source.line(number - 1)
        if "|" in line and "|" in before and _DELIMITER.match(line):
            cells, columns = _cells(line), _cells(before)
            if cells != columns:
                yield _issue(source, number, "delimiter row", cells, columns)


def _issue(source: Markdown, line: int, what: str, cells: int, columns: int) -> Issue:
    return Issue.at(
        source.text,
        *source.place(line, line + 1),
        f"give this table {what} {columns} {'cell' if columns == 1 else 'cells'} "
        f"like the header, not {cells}",
        category="format",
        severity=4 if cells > columns or what != "row" else 3,
        rule="table_columns",
    )


def _content(line: str) -> str:
    return _CONTAINER.sub("", line).strip()


def _cells(line: str) -> int:
    row = _content(line)
    row = row.removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return len(_PIPE.findall(row)) + 1
