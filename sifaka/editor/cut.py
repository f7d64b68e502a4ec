"""Shortens a text at the end of a sentence."""

import re

from sifaka.editor.layout import tables
from sifaka.editor.protection import verbatim
from sifaka.editor.spans import Cover, merged
from sifaka.text.prose import sentences

_UNFINISHED = re.compile(r"^\s*#{1,6}\s|:\Z")


def cut(text: str, limit: int) -> str | None:
    """The longest beginning of `text` that ends with a sentence at or before offset `limit`.

    It never ends inside a code block, a table or a URL, nor with a heading or a colon that
    announces what was cut off.

    Returns:
        The beginning without trailing white space; None when not even one sentence fits.
    """
    whole = text.rstrip()
    if len(whole) <= limit:
        return whole or None
    solid = Cover(merged([*verbatim(text), *tables(text)]))
    for _, end in reversed(sentences(text)):
        last_line = text[text.rfind("\n", 0, end) + 1 : end]
        if end <= limit and not solid.touches(end, end) and not _UNFINISHED.search(last_line):
            return text[:end]
    return None
