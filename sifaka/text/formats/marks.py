"""What a reader of a format finds: the stretches of a text that are not prose."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from sifaka.text.prose import Span

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


_LINE = re.compile(r"[^\n]*")
_NOT_BREAK = re.compile(r"[^\n]")


def names(listed: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(listed.split())


def lines_of(text: str) -> list[Line]:
    """The lines of a text; the part after the last line break is one too."""
    result: list[Line] = []
    start = 0
    for piece in text.split("\n"):
        line = piece.rstrip("\r")
        head = line[: len(line) - len(line.lstrip(" \t"))]
        result.append(Line(start, start + len(line), line, len(head.expandtabs())))
        start += len(piece) + 1
    return result


def paragraphs(text: str) -> Iterator[Span]:
    """The stretches of lines between blank ones."""
    start = end = -1
    for line in lines_of(text):
        if not line.blank:
            start, end = (line.start if start < 0 else start), line.end
        elif start >= 0:
            yield start, end
            start = -1
    if start >= 0:
        yield start, end


def block_end(lines: Sequence[Line], first: int, indent: int) -> int:
    """The number of the line after a block: after `first` deeper lines and blank ones between."""
    end = number = first
    while number < len(lines) and (lines[number].blank or lines[number].indent > indent):
        number += 1
        if not lines[number - 1].blank:
            end = number
    return end


def whole(lines: Iterable[Line]) -> Iterator[Mark]:
    """A block mark for each line that is not empty."""
    return (Mark(line.start, line.end) for line in lines if line.end > line.start)


def view(text: str, marks: Sequence[Mark]) -> str:
    """The prose of a text, as long as the text itself, so that offsets stay.

    Blocks become line breaks, code becomes a piece of Markdown code, styles become spaces.
    """
    if not marks:
        return text
    pieces: list[str] = []
    at = 0
    for start, end, kind in sorted(marks):
        begin = max(start, at)
        if begin >= end:
            continue
        pieces += [text[at:begin], _masked(text[begin:end], kind)]
        at = end
    return "".join((*pieces, text[at:]))


def _masked(piece: str, kind: Kind) -> str:
    if kind == "block":
        return "\n" * len(piece)
    if kind == "code":
        if len(piece) < 3:
            return _NOT_BREAK.sub("x", piece)
        return "`" + _NOT_BREAK.sub("x", piece[1:-1]) + "`"
    return _NOT_BREAK.sub(" ", piece)
