"""The parts of a text that the editor never changes."""

from collections.abc import Iterator, Sequence
from itertools import chain

from sifaka.editor.inline import named_inline, verbatim_inline
from sifaka.editor.layout import blocks
from sifaka.editor.spans import merged
from sifaka.text.formats import UNCHECKED, Format, Mark, marks, view
from sifaka.text.prose import Span


def protected(
    text: str, format: Format = Format.MARKDOWN, markup: Sequence[Mark] | None = None
) -> list[Span]:
    """The parts of a text that no rule may report on or change.

    The code and markup of its format; URLs, e-mail addresses, paths, flags, identifiers, short
    quotes, tables, front matter, indented code, column layouts, HTML tags and formulas.

    Args:
        text: The whole text.
        format: Its format.
        markup: What `sifaka.text.formats.marks` finds in it, if that is known.

    Returns:
        Spans in text order that do not overlap.
    """
    found = marks(text, format) if markup is None else markup
    prose = view(text, found)
    inline = chain(verbatim_inline(prose, format), named_inline(prose))
    return merged(chain(_places(found), inline, blocks(text, format, found)))


def verbatim(text: str, format: Format = Format.MARKDOWN) -> list[Span]:
    """The narrower set that even a requested replacement must leave alone.

    The code and markup of its format, URLs, e-mail addresses, paths, tags and formulas: another
    spelling there is another thing. Source code and data are taken for plain text here.
    """
    if format in UNCHECKED:
        format = Format.TEXT
    found = marks(text, format)
    return merged(chain(_places(found), verbatim_inline(view(text, found), format)))


def _places(found: Sequence[Mark]) -> Iterator[Span]:
    return ((start, end) for start, end, _ in found)
