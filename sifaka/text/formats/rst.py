"""reStructuredText: what of it is not prose."""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from sifaka.text.formats.markup_spans import Line, Lines, Mark, view
from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of, table

_PATTERNS = patterns_of(__file__, "rst")
_ITEM = _PATTERNS["item"]
_QUOTING = frozenset(string.punctuation)
_MOST_ROWS = 300
"""Lines of a simple table in which its last border is looked for."""


def marks(text: str) -> Iterator[Mark]:
    """Directives, literal blocks, tables, targets, comments, fields, lines of titles, roles.

    The content of notes, figures, descriptions of objects and the like is prose.
    """
    blocks = list(_find_blocks(text))
    yield from blocks
    prose = view(text, blocks)
    for paragraph in _PATTERNS["paragraph"].finditer(prose):
        for match in _PATTERNS["inline"].finditer(prose, *paragraph.span()):
            yield Mark(*match.span(), "code")
    named = {
        _fold_name(match.group(1) or match.group(2)) for match in _PATTERNS["target"].finditer(text)
    }
    for start, end in underlined(text) if named else ():
        if _fold_name(text[start:end]) in named:
            yield Mark(start, end)


def _find_blocks(text: str) -> Iterator[Mark]:
    """What begins a block, as far as its groups go if it has any, and the other lines of each."""
    lines = Lines(text)
    number = 0
    while number < len(lines):
        line, after = lines[number], number
        at = _find_body(line)
        for pattern, end in _OPENINGS:
            match = pattern.match(line.text, at)
            if match and (after := end(lines, number)) > number:
                spans = match.regs[1:] or match.regs
                yield from (Mark(line.start + a, line.start + b) for a, b in spans if a < b)
                inside = lines[number + 1 : after]
                yield from (Mark(each.start, each.end) for each in inside if each.text)
                break
        number = max(after, number + 1)


def _fold_name(text: str) -> str:
    """What a reference calls a title."""
    return " ".join(text.lower().split())


def underlined(text: str) -> Iterator[Span]:
    """The places of titles, whose underlines have to be as long as they are."""
    for line, below in pairwise(Lines(text)):
        if (
            not line.blank
            and below.indent == 0
            and _PATTERNS["adornment"].match(below.text)
            and not _PATTERNS["adornment"].match(line.text)
        ):
            yield line.start, line.end


def _find_body(line: Line) -> int:
    """The index in a line at which its text begins, after the marks of items."""
    at = 0
    for _ in range(4):
        match = _ITEM.match(line.text, at)
        at = match.end() if match else at
    return at


def _find_column(line: Line) -> int:
    """The column at which the text of a line begins, after the marks of items."""
    return len(line.text[: _find_body(line)].expandtabs()) or line.indent


def _is_last(lines: Lines, number: int) -> bool:
    """True of the last line of a paragraph."""
    return number + 1 == len(lines) or lines[number + 1].blank


def _content_end(lines: Lines, number: int) -> int:
    """After what is deeper than a line, which is nothing under an empty comment."""
    line = lines[number]
    alone = line.text[_find_body(line) :].strip() == ".." and _is_last(lines, number)
    return number + 1 if alone else lines.block_end(number + 1, _find_column(line))


def _options_end(lines: Lines, number: int) -> int:
    """After the options of a directive."""
    indent, end = _find_column(lines[number]), number + 1
    while (
        end < len(lines)
        and _PATTERNS["option"].match(lines[end].text)
        and lines[end].indent > indent
    ):
        end += 1
    return end


def _literal_end(lines: Lines, number: int) -> int:
    """After the literal block under a paragraph that ends with two colons."""
    if not _is_last(lines, number):
        return number + 1
    first = next((n for n in range(number + 1, len(lines)) if not lines[n].blank), len(lines))
    end = lines.block_end(first, _find_column(lines[number]))
    if end > first or end == len(lines) or _PATTERNS["explicit"].match(lines[first].text):
        return end
    mark = lines[first].text.strip()[0]
    while mark in _QUOTING and end < len(lines) and lines[end].text.lstrip().startswith(mark):
        end += 1
    return end


def _grid_end(lines: Lines, number: int) -> int:
    rows = range(number, len(lines))
    return next((n for n in rows if lines[n].text.lstrip()[:1] not in {"+", "|"}), len(lines))


def _table_end(lines: Lines, number: int) -> int:
    """After the border above a blank line; of an unclosed table after the paragraph."""
    # A header of several paragraphs is rare; the first border before a blank line may end it.
    for end in range(number + 1, min(len(lines), number + _MOST_ROWS)):
        if _PATTERNS["simple"].match(lines[end].text) and _is_last(lines, end):
            return end + 1
    return lines.paragraph_end(number)


_ENDS: Mapping[str, Callable[[Lines, int], int]] = {
    "content": _content_end,
    "literal": _literal_end,
    "options": _options_end,
    "grid": _grid_end,
    "table": _table_end,
    "paragraph": Lines.paragraph_end,
    "line": lambda _, number: number + 1,
}
"""The number of the line after the block that begins in a line."""
_OPENINGS = [
    (re.compile(row["pattern"]), _ENDS[row.get("end", "line")])
    for row in table(__file__, "patterns")["rst"]["openings"]
]
"""What begins a block; the first that fits a line counts."""
