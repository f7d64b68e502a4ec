"""Shortens a text at the end of a sentence."""

import re

from sifaka.editor.layout import tables
from sifaka.editor.protection import Cover, merged, verbatim
from sifaka.text.formats import Format, recognise
from sifaka.text.prose import sentences

_OPEN_ENDED = frozenset({Format.MARKDOWN, Format.TEXT, Format.RST})
"""Formats in which nothing that stays open holds sentences."""
_UNFINISHED = re.compile(r"^\s*#{1,6}\s|:\Z")


def cut(text: str, limit: int, *, format: Format | None = None) -> str | None:
    """The longest beginning of `text` that ends with a sentence at or before offset `limit`.

    It never ends inside a code block, a table or a URL, nor with a heading or a colon that
    announces what was cut off. What is opened and closed, as in LaTeX and HTML, is not shortened.

    Args:
        text: The text to shorten.
        limit: The most characters that are left.
        format: The format of the text; recognised by its look when None.

    Returns:
        The beginning without trailing white space; None when not even one sentence fits.
    """
    whole = text.rstrip()
    if len(whole) <= limit:
        return whole or None
    format = format or recognise(text)
    if format not in _OPEN_ENDED:
        return None
    solid = Cover(merged([*verbatim(text, format), *tables(text)]))
    for _, end in reversed(sentences(text)):
        last_line = text[text.rfind("\n", 0, end) + 1 : end]
        if end <= limit and not solid.touches(end, end) and not _UNFINISHED.search(last_line):
            return text[:end]
    return None
