"""Tables of Markdown: does every row have the columns of the header?"""

import re
from collections.abc import Iterator

from sifaka.record.results import Issue
from sifaka.text.markdown import Markdown

_CONTAINER = re.compile(r"^(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")


def table_issues(source: Markdown) -> Iterator[Issue]:
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
