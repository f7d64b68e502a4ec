"""The lines of a text that are not running prose: tables, listings, columns, front matter."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sifaka.editor.machine_text import machine_text
from sifaka.text.formats import Format, Mark
from sifaka.text.markdown import front_matter
from sifaka.text.prose import Span, blanked
from sifaka.text.tables import words_of

_LINE = re.compile("^.*", re.MULTILINE)
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|[a-z][.)])(\s+)\S")
_TABLE_RULE = re.compile(r"\s*[|+]?\s*:?[-=]{2,}:?\s*(?:[|+]\s*:?[-=]{2,}:?\s*)*[|+]?\s*$")
_HEX_DUMP = re.compile(
    r"[0-9a-fA-F](?<!\w.)[0-9a-fA-F][ \t:]+(?:[0-9a-fA-F]{2}[ \t:]+){2,}[0-9a-fA-F]{2}(?!\w)"
)
_HEX_ROW = re.compile(r"(?i)\s*(?:0x)?[0-9a-f]{4,16}:?[ \t]+(?:[0-9a-f]{2,8}[ \t]+){2,}")
_OPTION = re.compile(
    r"\s*(?:-{1,2}|/|\+)[A-Za-z?#][\w-]*(?:[ ,=].*?)?(?:\s{2,}|\t)\S"
    r"|\s*-{1,2}[A-Za-z?][\w-]*(?:,? |=|$)"
)
_PROMPT = re.compile(r"\s*(?:\$|>>>|\.\.\.|%|PS[^>]*>|C:\\[^>]*>)(?:\s|$)")
_DATA = re.compile(r"\s*(?:@\w|\.\. |:\w+[^:]*:|[\w.\"'-]+\s*[:=]\s*[\w\"'\[{(.<-]\S*$)")
_GAP = re.compile(r"(?<=\S)(?: {2,}|[ \t]*\t[ \t]*)(?=\S)")
_WORDS = words_of(__file__, "layout")


_LAID_OUT = frozenset({Format.MARKDOWN, Format.MDX, Format.TEXT, Format.RST, Format.ASCIIDOC})
"""Formats in which a line and its white space mean something."""
_INDENTED = frozenset({Format.MARKDOWN, Format.MDX, Format.TEXT})
"""Formats in which indentation alone makes code."""


def blocks(
    text: str, format: Format = Format.MARKDOWN, markup: Sequence[Mark] = ()
) -> Iterator[Span]:
    """Spans of whole lines that keep their exact form.

    Args:
        text: The whole text.
        format: Its format.
        markup: What its reader has found; its blocks are not looked at again.
    """
    if format not in _LAID_OUT:
        return
    if front := front_matter(text):
        yield 0, front
    if markup and format not in _INDENTED:
        text = blanked(text, ((start, end) for start, end, kind in markup if kind == "block"))
    lines = [line.span() for line in _LINE.finditer(text)]
    if format in _INDENTED:
        yield from _indented(text, lines)
    yield from _tables(text, lines)
    yield from _columns(text, lines)
    yield from machine_text(text)
    yield from (span for span in lines if _stands_alone(text[slice(*span)]))


def _tables(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Markdown and grid tables, without the line end after the last row."""
    rows = [_is_row(text[slice(*span)]) for span in lines]
    for index, (start, end) in enumerate(lines):
        if not rows[index]:
            continue
        near = [i for i in (index - 1, index + 1) if 0 <= i < len(lines) and rows[i]]
        # Joined with the row before, so that the table is one span.
        yield (lines[index - 1][0] if index - 1 in near else start), end


def _is_row(line: str) -> bool:
    stripped = line.strip()
    if not stripped:
        return False
    if "|" in stripped:
        return stripped[0] == "|" or (stripped.count("|") >= 1 and " | " in f" {stripped} ")
    return stripped[0] == "+" and bool(_TABLE_RULE.match(stripped))


def _stands_alone(line: str) -> bool:
    """True when one line alone shows that it is not a sentence."""
    line = line.rstrip()
    stripped = line.strip()
    if not stripped:
        return False
    if _HEX_DUMP.search(line) or any(p.match(line) for p in (_HEX_ROW, _OPTION, _PROMPT, _DATA)):
        return True
    if "  " in stripped or "\t" in stripped:
        gaps = [match.group() for match in _GAP.finditer(_without_marker(line))]
        if any("\t" in gap or len(gap) >= 4 for gap in gaps):
            return True
    tokens = stripped.split()
    bare = (token.strip(",;|").lower() for token in tokens)
    if len(tokens) >= 2 and all(token in _WORDS["truth"] or not token for token in bare):
        return True
    visible = "".join(tokens)
    return len(visible) > 5 and sum(map(str.isalpha, visible)) * 2 < len(visible)


def _indented(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Indented code: four columns deeper than the paragraph or list item it stands under."""
    content = 0
    """Column at which the text of the enclosing list item begins; 0 outside lists."""
    blank = True
    inside = False
    for start, end in lines:
        line = text[start:end].expandtabs(4)
        if not line.strip():
            blank = True
            continue
        indent = len(line) - len(line.lstrip())
        if (inside and indent >= content + 4) or (blank and indent >= content + 4):
            inside = True
            yield start, end
            continue
        inside = False
        if match := _LIST_ITEM.match(line):
            content = match.start(1) + min(len(match.group(1)), 4)
        elif blank and indent < min(content, 2):
            content = 0
        blank = False


def _columns(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Neighbouring lines whose gaps line up, or that have the same few words each."""
    written = [text[start:end] for start, end in lines]
    gaps = [_gap_ends(line.rstrip()) for line in written]
    for at, (above, below) in enumerate(pairwise(lines)):
        if gaps[at] & gaps[at + 1]:
            yield above
            yield below
    words = [line.split() for line in written]
    for at, (first, third) in enumerate(zip(lines, lines[2:], strict=False)):
        rows = words[at : at + 3]
        count = len(rows[0])
        if 2 <= count <= 6 and all(
            len(row) == count
            and row[-1][-1] not in ".!?:,;"
            and not _LIST_ITEM.match(" ".join(row))
            for row in rows
        ):
            yield first[0], third[1]


def _gap_ends(line: str) -> frozenset[int]:
    if "  " not in line and "\t" not in line:
        return frozenset()
    return frozenset(match.end() for match in _GAP.finditer(line))


def _without_marker(line: str) -> str:
    """The line without the list, heading or quote marks it begins with."""
    return re.sub(r"^[\s>]*(?:[-*+•#]+|\d{1,3}[.)])?\s*", "", line)
