"""The formats of texts: what each is recognised by, and what of it is not prose.

`recognise` tells the format from a file's name, else from the look of the text. `marks` gives the
stretches that are markup, code or verbatim. One file a format; `READERS` is the catalogue.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath

from sifaka.text.formats import asciidoc as _asciidoc
from sifaka.text.formats import rst as _rst
from sifaka.text.formats.format import UNCHECKED, Format, by_name, is_plain
from sifaka.text.formats.html import html
from sifaka.text.formats.latex import latex
from sifaka.text.formats.look import TELLTALE, by_look
from sifaka.text.formats.marks import Mark, view
from sifaka.text.formats.mdx import mdx
from sifaka.text.markdown import front_matter
from sifaka.text.prose import Span

__all__ = ["READERS", "UNCHECKED", "Format", "Mark", "marks", "recognise", "underlined", "view"]

READERS: Mapping[Format, Callable[[str], Iterable[Mark]]] = {
    Format.MDX: mdx,
    Format.RST: _rst.rst,
    Format.ASCIIDOC: _asciidoc.asciidoc,
    Format.LATEX: latex,
    Format.HTML: html,
}
"""The formats that have a reader of their own; Markdown's is `sifaka.text.markdown`."""

_UNDERLINED: Mapping[Format, Callable[[str], Iterator[Span]]] = {
    Format.RST: _rst.underlined,
    Format.ASCIIDOC: _asciidoc.underlined,
}


def recognise(text: str, path: str | PurePath | None = None) -> Format:
    """The format of a text: by the name of its file, else by its look.

    Markdown in doubt, as which plain text reads too; `.txt` is plain text in doubt.
    """
    if path is None:
        return by_look(text) if TELLTALE.search(text) else Format.MARKDOWN
    path = PurePath(path)
    if (named := by_name(path)) is not None:
        return named
    look = by_look(text)
    return Format.TEXT if look is Format.MARKDOWN and is_plain(path) else look


def marks(text: str, format: Format) -> list[Mark]:
    """What the reader of a format finds that is not prose; nothing for Markdown and plain text.

    In time that grows with the text's length.
    """
    if format in UNCHECKED:
        return [Mark(0, len(text))]
    reader = READERS.get(format)
    if reader is None:
        return []
    start = front_matter(text)
    found = [Mark(start + a, start + b, kind) for a, b, kind in reader(text[start:]) if a < b]
    return [Mark(0, start), *found] if start else found


def underlined(text: str, format: Format) -> list[Span]:
    """The places of titles whose underlines have to be as long as they are."""
    return list(_UNDERLINED[format](text)) if format in _UNDERLINED else []
