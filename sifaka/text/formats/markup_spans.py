"""What a reader of a format finds: the stretches of a text that are not prose."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sifaka.text.tables import patterns_of

Kind = Literal["block", "code", "style"]


class Mark(NamedTuple):
    """A stretch that no rule may touch."""

    start: int
    end: int
    kind: Kind = "block"
    """`block` ends the sentence before it, `code` stands for a noun in its sentence, and `style` is
    the markup around words."""


class Line(NamedTuple):
    """A line without its break."""

    start: int
    end: int
    text: str
    indent: int
    """Columns of white space in front of it, tabs filled up to the next multiple of 8."""

    @property
    def blank(self) -> bool:
        """True when it holds white space alone."""
        return not self.text.strip()


class Lines(list[Line]):
    """The lines of a text; the part after the last line break is one too."""

    def __init__(self, text: str) -> None:
        start = 0
        for piece in text.split("\n"):
            line = piece.rstrip("\r")
            head = line[: len(line) - len(line.lstrip(" \t"))]
            self.append(Line(start, start + len(line), line, len(head.expandtabs())))
            start += len(piece) + 1

    def paragraph_end(self, first: int) -> int:
        """The number of the next blank line."""
        return next((n for n in range(first, len(self)) if self[n].blank), len(self))

    def block_end(self, first: int, indent: int) -> int:
        """The number of the line after deeper lines from `first` on and blank ones between."""
        end = number = first
        while number < len(self) and (self[number].blank or self[number].indent > indent):
            number += 1
            if not self[number - 1].blank:
                end = number
        return end


_PATTERNS = patterns_of(__file__, "spans")


def pairs(text: str, pattern: re.Pattern[str]) -> dict[int, int]:
    """The offsets of what opens, each with the offset after what closes it.

    Args:
        text: The text.
        pattern: What opens and closes, with groups `open` and `close`; both have the same text
            where they belong together.
    """
    ends: dict[int, int] = {}
    opened: defaultdict[str, list[int]] = defaultdict(list)
    for match in pattern.finditer(text):
        if match["open"] is not None:
            opened[match["open"]].append(match.start())
        elif match["close"] is not None and opened[match["close"]]:
            ends[opened[match["close"]].pop()] = match.end()
    return ends


def with_its_word(text: str, start: int, end: int) -> Mark:
    """A sign that stands for a letter, with the word it stands in."""
    before = _PATTERNS["letters_before"].search(text, max(0, start - 60), start)
    after = _PATTERNS["letters"].match(text, end)
    return Mark(before.start() if before else start, after.end() if after else end, "code")


class Closings:
    """The places of marks that close something; one that is not there is looked for once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._absent: set[str] = set()

    def after(self, closing: str, start: int, unclosed: int) -> int:
        """The offset after the next closing mark."""
        end = -1 if closing in self._absent else self._text.find(closing, start)
        if end < 0:
            self._absent.add(closing)
            return unclosed
        return end + len(closing)


def view(text: str, marks: Sequence[Mark]) -> str:
    """The prose of a text, as long as the text itself, so that offsets stay.

    Blocks become line breaks, code becomes a piece of Markdown code, styles become spaces.
    """
    pieces: list[str] = []
    at = 0
    for start, end, kind in sorted(marks):
        begin = max(start, at)
        if begin >= end:
            continue
        pieces += [text[at:begin], _mask(text[begin:end], kind)]
        at = end
    return "".join((*pieces, text[at:]))


def _mask(piece: str, kind: Kind) -> str:
    if kind == "block":
        return "\n" * len(piece)
    filled = _PATTERNS["not_break"].sub(" " if kind == "style" else "x", piece)
    return f"`{filled[1:-1]}`" if kind == "code" and len(piece) > 2 else filled
