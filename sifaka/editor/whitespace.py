"""White space where none belongs."""

import re
from collections.abc import Iterator

from sifaka.editor.lexicon import lexicon
from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue
from sifaka.text.formats import Format

_BEFORE_MARK = re.compile(r"(?<=[\w)\]'’”\"*])( {1,2})([,.!?])(?=\s|\Z)")
_DOUBLE = re.compile(r"(?<=[^\s|])( {2,3})(?=[^\s|])")
_NO_SPACE = re.compile(r"(?<=[ \n][a-z]{2}|[a-z]{3}),(?=[a-z]{2,}[ .!?])")
_MARKER = re.compile(r"[\s>]*(?:(?:[-*+•–]|#|\d{1,3}[.)]|[a-z][.)]|\[[ xX]\])\s*)*\Z")
_COLLAPSES = frozenset({Format.HTML, Format.LATEX})
"""Formats in which white space is never shown as it stands."""
_WIDE_GAPS = frozenset({Format.RST, Format.ASCIIDOC, Format.ORG, Format.PYTHON, Format.GETTEXT})
"""Formats in which two spaces after a sentence are as good as one."""
_SENTENCE_GAP = re.compile(r"[.!?][\"'”’)]?( {1,3})(?=[A-Z\"'“(])")
# Words that take a bare full stop as an argument: "git add .", "cd ."
_COMMANDS = lexicon(
    "add ls cd cp mv rm find build install source du tar grep test run open tree lint check",
    "format mypy ruff pytest docker git code pip",
)
# "The operators && and !"
_BEFORE_OPERATOR = lexicon("and or the a an with operator operators")


def spacing(parsed: ParsedText) -> Iterator[Issue]:
    """Spaces before punctuation and doubled spaces inside a line."""
    yield from _before_marks(parsed)
    yield from _doubled(parsed)
    yield from _after_commas(parsed)


def _before_marks(parsed: ParsedText) -> Iterator[Issue]:
    text = parsed.text
    for match in _BEFORE_MARK.finditer(text):
        start, end = match.span()
        following = _following(text, end)
        # Inside a sentence a full stop, "!" or "?" between spaces is an operator or an argument.
        if match.group(2) != "," and following.islower():
            continue
        previous = parsed.word_before(start + 1)
        if (match.group(2) == "." and previous in _COMMANDS) or previous in _BEFORE_OPERATOR:
            continue
        if parsed.words_in_line(start) < 3 or not parsed.free(start, end):
            continue
        yield parsed.safe(
            start, end, match.group(2), f'no space before "{match.group(2)}"',
            rule="space_before_punctuation", category="spacing",
        )  # fmt: skip


def _after_commas(parsed: ParsedText) -> Iterator[Issue]:
    for match in _NO_SPACE.finditer(parsed.text):
        start, end = match.span()
        if parsed.words_in_line(start) >= 4 and parsed.free(start - 1, end + 1):
            yield parsed.suggestion(
                start, end, "a space after the comma",
                rule="space_after_comma", category="spacing", fix=", ",
            )  # fmt: skip


def _doubled(parsed: ParsedText) -> Iterator[Issue]:
    text = parsed.text
    if parsed.format in _COLLAPSES or _DOUBLE.search(text) is None:
        return
    gaps = list(_SENTENCE_GAP.finditer(text))
    wide = sum(len(match.group(1)) == 2 for match in gaps)
    # Two spaces after every sentence are a habit of typists, not a mistake.
    habit = (wide >= 2 and wide * 2 > len(gaps)) or parsed.format in _WIDE_GAPS
    own = {match.start(1) for match in gaps} if habit else set[int]()
    for match in _DOUBLE.finditer(text):
        start, end = match.span()
        line_start = text.rfind("\n", max(0, start - 40), start) + 1
        if start in own or _MARKER.fullmatch(text[line_start:start]):
            continue
        if parsed.words_in_line(start) < 5 or not parsed.free(start - 1, end + 1):
            continue
        yield parsed.safe(
            start, end, " ", "one space is enough", rule="double_space", category="spacing"
        )


def _following(text: str, offset: int) -> str:
    """The first character at or after an offset that is no space; empty at the end."""
    while offset < len(text) and text[offset] == " ":
        offset += 1
    return text[offset : offset + 1]
