"""A text without what its writer did not say: quotes, code, addresses, verses, other languages."""

import re
from dataclasses import dataclass
from functools import cached_property

from sifaka.editor.parsed_text import ParsedText
from sifaka.text.prose import Span, blanked, sentences

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FIRST = re.compile(r"[^\W\d_]")
_LINE = re.compile(r"(?<=\n)[^\W\d_]")
_WRAP = re.compile(r"(?<=[^\s.!?:])\n(?=[^\W\d_])")
"""The end of a line within a sentence."""
_BLOCK_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LONG_QUOTE = re.compile(r"“[^”\n]{1,2000}”|(?<![\w\"])\"[^\"\n]{1,2000}\"(?!\w)")
_STANZA = re.compile(r"(?:^(?![ \t]*(?:[-*+•#|>]|\d+[.)]))[^\n]{2,64}\n){3,}", re.MULTILINE)
_VERSE = 60
"""Characters of a long verse."""
_ENDS = re.compile(r"[.!?:;]\s*$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Prose:
    """A text as the rules for stock prose read it."""

    raw: str
    text: str
    """Of the same length, blank where the words are not the writer's own."""

    @classmethod
    def of(cls, parsed: ParsedText) -> "Prose":
        """The prose of a text."""
        text = parsed.text
        others = [m.span() for p in (_BLOCK_QUOTE, _LONG_QUOTE) for m in p.finditer(text)]
        verses = [m.span() for m in _STANZA.finditer(text + "\n") if _is_verse(m.group())]
        hidden = (*parsed.reserved.spans, *others, *verses)
        return cls(text, _WRAP.sub(" ", blanked(parsed.prose, hidden)))

    @cached_property
    def tokens(self) -> list[tuple[str, int, int]]:
        """The words that are read, in small letters, each with its place."""
        return [
            (match.group().lower().replace("’", "'"), *match.span())
            for match in _WORD.finditer(self.text)
        ]

    @property
    def words(self) -> int:
        """The number of words that are read."""
        return len(self.tokens)

    @cached_property
    def starts(self) -> frozenset[int]:
        """Where sentences begin, after the marks of lists and headings."""
        found = (_FIRST.search(self.text, start, end) for start, end in self.sentences)
        lines = _LINE.finditer(self.text)
        return frozenset(match.start() for match in (*found, *lines) if match)

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences that are read."""
        return sentences(self.text)


def _is_verse(lines: str) -> bool:
    """True for lines that are shorter than wrapped ones, or of which few end a sentence."""
    is_short = max(map(len, lines.split("\n"))) <= _VERSE
    return is_short or len(_ENDS.findall(lines)) * 2 < lines.count("\n")
