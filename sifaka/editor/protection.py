"""The parts of a text that the editor never changes."""

from itertools import chain

from sifaka.editor.inline import named_inline, verbatim_inline
from sifaka.editor.layout import blocks
from sifaka.editor.spans import merged
from sifaka.text.prose import Span


def protected(text: str) -> list[Span]:
    """The parts of a text that no rule may report on or change.

    Fences and inline code, URLs, e-mail addresses, paths, flags, identifiers, short quotes, tables,
    front matter, indented code, column layouts, HTML tags and formulas.

    Returns:
        Spans in text order that do not overlap.
    """
    return merged(chain(verbatim_inline(text), named_inline(text), blocks(text)))


def verbatim(text: str) -> list[Span]:
    """The narrower set that even a requested replacement must leave alone.

    Code, URLs, e-mail addresses, paths, tags and formulas: another spelling there is another thing.
    """
    return merged(verbatim_inline(text))
