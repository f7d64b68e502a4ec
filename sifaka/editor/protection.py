"""The parts of a text that the editor never changes."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from sifaka.editor.inline import named_inline, tokens_of, verbatim_inline
from sifaka.editor.layout import blocks
from sifaka.text.formats import UNCHECKED, Format, Mark, marks, view
from sifaka.text.prose import Span


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same places, in order, without overlaps and without empty spans."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


@dataclass(frozen=True)
class Cover:
    """A merged set of spans that answers quickly whether a place is free of them."""

    spans: Sequence[Span]

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self.spans]

    def touches(self, start: int, end: int) -> bool:
        """True when `start:end` shares a character with a span, or is an insertion inside one."""
        if not self.spans:
            return False
        # The last span that starts before the place ends; earlier ones end before it starts.
        index = bisect_right(self._starts, max(end - 1, start)) - 1
        if index < 0:
            return False
        span_start, span_end = self.spans[index]
        return span_end > start if end > start else span_start < start < span_end


def protected(
    text: str,
    format: Format = Format.MARKDOWN,
    markup: Sequence[Mark] | None = None,
    known: Sequence[Span] | None = None,
) -> list[Span]:
    """The parts of a text that no rule may report on or change.

    The code and markup of its format; URLs, e-mail addresses, paths, flags, identifiers, short
    quotes, tables, front matter, indented code, column layouts, HTML tags and formulas.

    Args:
        text: The whole text.
        format: Its format.
        markup: What `sifaka.text.formats.marks` finds in it, if that is known.
        known: What `verbatim` finds in it, if that is known.

    Returns:
        Spans in text order that do not overlap.
    """
    found = marks(text, format) if markup is None else markup
    prose = view(text, found)
    tokens = list(tokens_of(prose))
    solid = chain(_places(found), verbatim_inline(prose, format, tokens))
    rest = chain(named_inline(prose, tokens), blocks(text, format, found))
    return merged(chain(solid if known is None else known, rest))


def verbatim(
    text: str, format: Format = Format.MARKDOWN, markup: Sequence[Mark] | None = None
) -> list[Span]:
    """The narrower set that even a requested replacement must leave alone.

    The code and markup of its format, URLs, e-mail addresses, paths, tags and formulas: another
    spelling there is another thing. Source code and data are taken for plain text here.
    """
    if format in UNCHECKED:
        format = Format.TEXT
    found = marks(text, format) if markup is None else markup
    prose = view(text, found)
    return merged(chain(_places(found), verbatim_inline(prose, format, tokens_of(prose))))


def _places(found: Sequence[Mark]) -> Iterator[Span]:
    return ((start, end) for start, end, _ in found)
