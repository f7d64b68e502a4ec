"""reStructuredText: what of it is not prose."""

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise

from sifaka.text.formats.marks import (
    Line,
    Mark,
    block_end,
    lines_of,
    names,
    paragraphs,
    view,
    whole,
)
from sifaka.text.prose import Span

_Taken = Generator[Mark, None, int]
"""Yields marks, and returns the number of the next line."""

_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]+(?P<rest>.*))?$")
_DIRECTIVE = re.compile(r"(?P<name>[a-zA-Z][\w:.+-]*)[ ]?::(?:[ \t]+(?P<argument>.*))?$")
_NOTE = re.compile(r"\[(?:[#*][\w.-]*|[\w.-]+)\](?:[ \t]+|$)")
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t]|$)")
_FIELD = re.compile(r"[ \t]*:(?![: ])(?:[^:\n\\]|\\.|:(?=\S)){1,80}:(?=[ \t]|$)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_GRID = re.compile(r"[ \t]*\+[-=+]{2,}\+[ \t]*$")
_SIMPLE = re.compile(r"[ \t]*=+(?:[ ]+=+)+[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣]|\(?(?:\d{1,4}|[a-zA-Z]|#|[ivxlcIVXLC]+)[.)])(?:[ \t]+|$)")
_PROSE = names(
    """
    admonition attention caution danger error hint important note seealso tip todo warning
    versionadded versionchanged versionremoved deprecated deprecated-removed topic sidebar
    rubric centered epigraph highlights pull-quote compound container
    """
)
"""Directives whose argument is prose, and goes on in their content."""
_HOLDS_PROSE = names(
    """
    figure only class rst-class cssclass glossary hlist describe object function method class
    attribute data exception module property decorator staticmethod classmethod opcode option
    cmdoption program confval envvar setting event tab tabs tab-set tab-item group-tab grid
    grid-item grid-item-card card dropdown details collapse list-table table type struct union
    enum enumerator macro var member role directive impl-detail availability audit-event
    admonition-todo index-entry header footer line-block contents
    """
)
"""Directives whose content is prose, unlike their argument."""
_UNTOLD = names(
    """
    author authors address contact organization date status revision version copyright orphan
    tocdepth nosearch type rtype vartype
    """
)
"""Fields whose body is no prose."""
_QUOTED = re.compile(r"[ \t]*([!-/:-@\[-`{-~])")
_TARGET = re.compile(
    r"`([^`<>]{1,200})`_(?![\w])|(?<![\w.+:_`-])([^\W_][\w.+:-]{0,100}?)_(?![\w`])"
)
"""A reference, which may name a title."""
_INLINE = re.compile(
    r"""(?P<literal>(?<![`\w])``(?!\s)(?:[^`]|`(?!`)){1,400}?``(?!`))
    | (?<![\w:]):[A-Za-z][\w:+.-]{0,60}:`[^`]{1,400}`
    | _`[^`\n]{1,200}`
    | (?<![`\w])`[^`\s][^`]{0,400}`(?::[A-Za-z][\w:+.-]{0,60}:|__?(?!\w))?
    | \|(?![\s|])[^|\n]{1,200}(?<!\s)\|_{0,2}
    | \[(?:[#*][\w.-]{0,80}|[\w.-]{1,80})\]_(?!\w)
    | (?<![\w.+:_`-])[^\W_][\w.+:-]{0,100}?__?(?![\w`])
    | \\\S?""",
    re.VERBOSE,
)


def rst(text: str) -> Iterator[Mark]:
    """Directives, literal blocks, tables, targets, comments, fields, lines of titles, roles.

    The content of notes, figures, descriptions of objects and the like is prose.
    """
    blocks = list(_blocks(lines_of(text)))
    yield from blocks
    prose = view(text, blocks)
    for start, end in paragraphs(prose):
        for match in _INLINE.finditer(prose, start, end):
            yield Mark(*match.span(), "code")
    named = {_name(match.group(1) or match.group(2)) for match in _TARGET.finditer(text)}
    for start, end in underlined(text) if named else ():
        if _name(text[start:end]) in named:
            yield Mark(start, end)


def _name(text: str) -> str:
    """What a reference calls a title."""
    return " ".join(text.lower().split())


def underlined(text: str) -> Iterator[Span]:
    """The places of titles, whose underlines have to be as long as they are."""
    for line, below in pairwise(lines_of(text)):
        if (
            not line.blank
            and below.indent == 0
            and _ADORNMENT.match(below.text)
            and not _ADORNMENT.match(line.text)
        ):
            yield line.start, line.end


def _blocks(lines: Sequence[Line]) -> Iterator[Mark]:
    number = 0
    borders = _Borders(lines)
    while number < len(lines):
        line = lines[number]
        body = _body(line)
        content = line.text[body:]
        after = number + 1
        if not content:
            pass
        elif explicit := _EXPLICIT.match(content):
            after = yield from _explicit(lines, number, body, explicit["rest"] or "")
        elif content.startswith(">>> "):
            after = _paragraph_end(lines, number)
            yield from whole(lines[number:after])
        elif _GRID.match(content):
            while after < len(lines) and lines[after].text.lstrip()[:1] in {"+", "|"}:
                after += 1
            yield from whole(lines[number:after])
        elif _SIMPLE.match(content):
            after = borders.table_end(number)
            yield from whole(lines[number:after])
        elif _ADORNMENT.match(content) or content.startswith("__ "):
            yield Mark(line.start, line.end)
        elif field := _FIELD.match(content):
            after = yield from _field(lines, number, body, field)
        if content.endswith("::") and after == number + 1:
            after = yield from _literal(lines, number)
        number = after


def _body(line: Line) -> int:
    """The index in a line at which its text begins, after white space and the marks of items."""
    at = len(line.text) - len(line.text.lstrip(" \t"))
    for _ in range(4):
        match = _ITEM.match(line.text, at)
        if match is None:
            break
        at = match.end()
    return at


def _explicit(lines: Sequence[Line], number: int, body: int, rest: str) -> _Taken:
    """A block of explicit markup: a directive, a comment, a target, a footnote."""
    line = lines[number]
    indent = line.indent if line.text[:body].isspace() or not body else body
    start = line.start + body
    if not rest.strip() and (number + 1 == len(lines) or lines[number + 1].blank):
        yield Mark(start, line.end)
        return number + 1
    at = line.end - len(rest)
    if note := _NOTE.match(rest):
        yield Mark(start, at + note.end())
        return number + 1
    directive = _DIRECTIVE.match(rest)
    name = directive["name"].lower() if directive else ""
    short = name.rpartition(":")[2]
    if directive and name in _PROSE:
        argument = directive.start("argument") if directive["argument"] else len(rest)
        yield Mark(start, at + argument)
        end = number + 1
        while end < len(lines) and _OPTION.match(lines[end].text) and lines[end].indent > indent:
            end += 1
        yield from whole(lines[number + 1 : end])
        if rest.endswith("::") and argument < len(rest):
            return (yield from _literal(lines, number))
        return end
    if directive and (name in _HOLDS_PROSE or short in _HOLDS_PROSE or name.startswith("auto")):
        end = _paragraph_end(lines, number)
    else:
        end = block_end(lines, number + 1, indent)
    yield Mark(start, line.end)
    yield from whole(lines[number + 1 : end])
    return end


def _field(lines: Sequence[Line], number: int, body: int, field: re.Match[str]) -> _Taken:
    line = lines[number]
    name = field.group().strip(" \t:").partition(" ")[0].lower()
    if name not in _UNTOLD:
        yield Mark(line.start + body, line.start + body + field.end())
        return number + 1
    end = block_end(lines, number + 1, line.indent)
    yield from whole(lines[number:end])
    return end


def _literal(lines: Sequence[Line], number: int) -> _Taken:
    """The literal block after a paragraph that ends with two colons."""
    line = lines[number]
    yield Mark(line.start + len(line.text.rstrip()) - 2, line.end)
    first = number + 1
    if first < len(lines) and not lines[first].blank:
        return first
    while first < len(lines) and lines[first].blank:
        first += 1
    if first == len(lines):
        return first
    column = len(line.text[: _body(line)].expandtabs())
    if lines[first].indent > column:
        end = block_end(lines, first, column)
    else:
        end = first
        quoted = _QUOTED.match(lines[first].text)
        if quoted and not _EXPLICIT.match(lines[first].text):
            while end < len(lines) and lines[end].text.lstrip().startswith(quoted.group(1)):
                end += 1
    yield from whole(lines[first:end])
    return end


def _paragraph_end(lines: Sequence[Line], number: int) -> int:
    while number < len(lines) and not lines[number].blank:
        number += 1
    return number


class _Borders:
    """The lines of `=` between which the columns of simple tables stand."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._last = [
            number
            for number, line in enumerate(lines)
            if _SIMPLE.match(line.text) and (number + 1 == len(lines) or lines[number + 1].blank)
        ]

    def table_end(self, first: int) -> int:
        """The number of the line after a table; of an unclosed one the paragraph."""
        at = bisect_right(self._last, first)
        # A header of several paragraphs is rare; the first border before a blank line may end it.
        if at == len(self._last):
            return _paragraph_end(self._lines, first)
        return self._last[at] + 1
