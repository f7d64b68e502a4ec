"""reStructuredText: what of it is not prose."""

import re
import string
from collections.abc import Iterator
from itertools import pairwise

from sifaka.text.formats.marks import (
    Line,
    Lines,
    Mark,
    Opening,
    either,
    marks_in_lines,
)
from sifaka.text.prose import Span

_PROSE = either(
    """
    admonition attention caution danger error hint important note seealso tip todo warning
    versionadded versionchanged versionremoved deprecated deprecated-removed topic sidebar
    rubric centered epigraph highlights pull-quote compound container
    """
)
"""Directives whose argument is prose, and goes on in their content."""
_HOLDS_PROSE = either(
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
_UNTOLD = either(
    """
    author authors address contact organization date status revision version copyright orphan
    tocdepth nosearch type rtype vartype
    """
)
"""Fields whose body is no prose."""
_FIELD = r"[ \t]*:(?![: ])(?:[^:\n\\]|\\.|:(?=\S)){1,80}:(?=[ \t]|$)"
_DIRECTIVE = r"[ \t]*\.\.[ \t]+(?i:{})[ ]?::(?:[ \t]+|$)"
_NOTICE = _DIRECTIVE.format(_PROSE)
_HOLDER = _DIRECTIVE.format(rf"(?:[\w.+:-]*:)?(?:{_HOLDS_PROSE})|auto[\w:.+-]*")
_NOTE = r"[ \t]*\.\.[ \t]+\[(?:[#*][\w.-]*|[\w.-]+)\](?:[ \t]+|$)"
_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]|$).*")
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t]|$)")
_ADORNMENT = re.compile(r"(([!-/:-@\[-`{-~])\2*[ \t]*)$")
_SIMPLE = re.compile(r"[ \t]*=+(?:[ ]+=+)+[ \t]*$")
_QUOTING = frozenset(string.punctuation)
_MOST_ROWS = 300
"""Lines of a simple table in which its last border is looked for."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣]|\(?(?:\d{1,4}|[a-zA-Z]|#|[ivxlcIVXLC]+)[.)])(?:[ \t]+|$)")
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
    yield from marks_in_lines(text, _OPENINGS, _INLINE, _body)
    named = {_name(match.group(1) or match.group(2)) for match in _TARGET.finditer(text)}
    for start, end in underlined(text) if named else ():
        if _name(text[start:end]) in named:
            yield Mark(start, end)


def _name(text: str) -> str:
    """What a reference calls a title."""
    return " ".join(text.lower().split())


def underlined(text: str) -> Iterator[Span]:
    """The places of titles, whose underlines have to be as long as they are."""
    for line, below in pairwise(Lines(text)):
        if (
            not line.blank
            and below.indent == 0
            and _ADORNMENT.match(below.text)
            and not _ADORNMENT.match(line.text)
        ):
            yield line.start, line.end


def _body(line: Line) -> int:
    """The index in a line at which its text begins, after the marks of items."""
    at = 0
    for _ in range(4):
        match = _ITEM.match(line.text, at)
        at = match.end() if match else at
    return at


def _column(line: Line) -> int:
    """The column at which the text of a line begins, after the marks of items."""
    return len(line.text[: _body(line)].expandtabs()) or line.indent


def _is_last(lines: Lines, number: int) -> bool:
    """True of the last line of a paragraph."""
    return number + 1 == len(lines) or lines[number + 1].blank


def _content(lines: Lines, number: int) -> int:
    """After what is deeper than a line, which is nothing under an empty comment."""
    line = lines[number]
    alone = line.text[_body(line) :].strip() == ".." and _is_last(lines, number)
    return number + 1 if alone else lines.block_end(number + 1, _column(line))


def _options(lines: Lines, number: int) -> int:
    """After the options of a directive."""
    indent, end = _column(lines[number]), number + 1
    while end < len(lines) and _OPTION.match(lines[end].text) and lines[end].indent > indent:
        end += 1
    return end


def _literal(lines: Lines, number: int) -> int:
    """After the literal block under a paragraph that ends with two colons."""
    if not _is_last(lines, number):
        return number + 1
    first = next((n for n in range(number + 1, len(lines)) if not lines[n].blank), len(lines))
    end = lines.block_end(first, _column(lines[number]))
    if end > first or end == len(lines) or _EXPLICIT.match(lines[first].text):
        return end
    mark = lines[first].text.strip()[0]
    while mark in _QUOTING and end < len(lines) and lines[end].text.lstrip().startswith(mark):
        end += 1
    return end


def _grid(lines: Lines, number: int) -> int:
    rows = range(number, len(lines))
    return next((n for n in rows if lines[n].text.lstrip()[:1] not in {"+", "|"}), len(lines))


def _table(lines: Lines, number: int) -> int:
    """After the border above a blank line; of an unclosed table after the paragraph."""
    # A header of several paragraphs is rare; the first border before a blank line may end it.
    for end in range(number + 1, min(len(lines), number + _MOST_ROWS)):
        if _SIMPLE.match(lines[end].text) and _is_last(lines, end):
            return end + 1
    return lines.paragraph_end(number)


_OPENINGS = (
    # Fields without prose.
    Opening(
        re.compile(rf"(?=[ \t]*:(?i:{_UNTOLD})[ :]){_FIELD}.*"),
        _content,
    ),
    # The last line of a paragraph above a literal block.
    Opening(
        re.compile(
            rf"(?:({_NOTICE}(?=\S)|{_NOTE})|(?![ \t]*\.\.(?:[ \t]|$))({_FIELD})?)"
            r".*?(?<!:)(::+[ \t]*)$"
        ),
        _literal,
    ),
    Opening(re.compile(_NOTE)),
    Opening(re.compile(_NOTICE), _options),
    Opening(re.compile(rf"{_HOLDER}.*"), Lines.paragraph_end),
    Opening(_EXPLICIT, _content),
    Opening(re.compile(r"[ \t]*>>> .*"), Lines.paragraph_end),
    Opening(re.compile(r"[ \t]*\+[-=+]{2,}\+[ \t]*$"), _grid),
    Opening(_SIMPLE, _table),
    Opening(re.compile(rf"[ \t]*{_ADORNMENT.pattern}")),
    Opening(re.compile(r"[ \t]*__ .*")),
    Opening(re.compile(_FIELD)),
)
