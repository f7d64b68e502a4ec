"""White space where none belongs."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue
from sifaka.text.formats import Format
from sifaka.text.tables import words_of

_MARKER = re.compile(r"[\s>]*(?:(?:[-*+•–]|#|\d{1,3}[.)]|[a-z][.)]|\[[ xX]\])\s*)*\Z")
_COLLAPSES = frozenset({Format.HTML, Format.LATEX})
"""Formats in which white space is never shown as it stands."""
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]?\Z")
_WORDS = words_of(__file__, "whitespace")


def _before_mark(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    mark = match.group(2)
    # Inside a sentence a full stop, "!" or "?" between spaces is an operator or an argument.
    if mark != "," and _following(parsed.text, end).islower():
        return
    # An ellipsis with spaces, a dotted pair.
    if mark == "." and parsed.text[end : end + 2].strip()[:1] in {".", "("}:
        return
    previous = parsed.word_before(start + 1)
    if (mark == "." and previous in _WORDS["commands"]) or previous in _WORDS["before_operator"]:
        return
    if parsed.words_in_line(start) >= 3:
        message = f'no space before "{mark}"'
        yield parsed.issue((start, end), mark, message, "space_before_punctuation", "spacing")


def _doubled(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    text, format = parsed.text, parsed.format
    if format in _COLLAPSES or parsed.words_in_line(start) < 5:
        return
    if not parsed.free(start - 1, end + 1):
        return
    # Two spaces after a sentence are a habit of typists, those before a bracket a column.
    if text[end] == "(" or _SENTENCE_END.search(text, max(0, start - 2), start):
        return
    line_start = text.rfind("\n", max(0, start - 40), start) + 1
    if not _MARKER.fullmatch(text[line_start:start]):
        yield parsed.issue((start, end), " ", "one space is enough", "double_space", "spacing")


def _after_comma(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    if parsed.words_in_line(start) >= 4 and parsed.free(start - 1, end + 1):
        message, rule = "a space after the comma", "space_after_comma"
        yield parsed.issue((start, end), ", ", message, rule, "spacing", safe=False)


def _following(text: str, offset: int) -> str:
    """The first character at or after an offset that is no space; empty at the end."""
    while offset < len(text) and text[offset] == " ":
        offset += 1
    return text[offset : offset + 1]


spacing = PatternRule.of(
    "whitespace", before_mark=_before_mark, doubled=_doubled, after_comma=_after_comma
)
"""Spaces before punctuation, doubled spaces inside a line, and none after a comma."""
