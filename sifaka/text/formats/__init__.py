"""The formats of texts: what each is recognised by, and what of it is not prose.

`recognise` tells the format from a file's name, else from the look of the text. `marks` gives the
stretches that are markup, code or verbatim. One file a format; `READERS` is the catalogue.
"""

import re
from importlib import import_module
from pathlib import PurePath
from typing import Any

from sifaka.text.formats.format import UNCHECKED, Format, by_name, is_plain
from sifaka.text.formats.markup_spans import Mark, view
from sifaka.text.markdown import front_matter
from sifaka.text.prose import Span

__all__ = ["READERS", "UNCHECKED", "Format", "Mark", "marks", "recognise", "underlined", "view"]

READERS = frozenset({Format.MDX, Format.RST, Format.ASCIIDOC, Format.LATEX, Format.HTML})
"""The formats that have a reader of their own, in the module of their name; its patterns are loaded
when it is first used. Markdown's is `sifaka.text.markdown`."""
_UNDERLINED = frozenset({Format.RST, Format.ASCIIDOC})
_TELLTALE = re.compile(r"[^\w\s.,!?()'’“”-]|^\.[A-Z]", re.MULTILINE)
"""A character without which no format but Markdown and plain text comes."""


def recognise(text: str, path: str | PurePath | None = None) -> Format:
    """The format of a text: by the name of its file, else by its look.

    Markdown in doubt, as which plain text reads too; `.txt` is plain text in doubt.
    """
    if path is None:
        return _by_look(text) if _TELLTALE.search(text) else Format.MARKDOWN
    path = PurePath(path)
    if (named := by_name(path)) is not None:
        return named
    look = _by_look(text)
    return Format.TEXT if look is Format.MARKDOWN and is_plain(path) else look


def marks(text: str, format: Format) -> list[Mark]:
    """What the reader of a format finds that is not prose; nothing for Markdown and plain text.

    In time that grows with the text's length.
    """
    if format in UNCHECKED:
        return [Mark(0, len(text))]
    if format not in READERS:
        return []
    start = front_matter(text)
    found = [
        Mark(start + a, start + b, kind)
        for a, b, kind in _reader(format).marks(text[start:])
        if a < b
    ]
    return [Mark(0, start), *found] if start else found


def underlined(text: str, format: Format) -> list[Span]:
    """The places of titles whose underlines have to be as long as they are."""
    return list(_reader(format).underlined(text)) if format in _UNDERLINED else []


def _reader(format: Format) -> Any:
    return import_module(f"{__name__}.{format}")


def _by_look(text: str) -> Format:
    # Its patterns are many, and most texts come with the name of their file.
    from sifaka.text.formats.detection import by_look

    return by_look(text)
