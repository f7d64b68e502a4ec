"""MDX: what of it is not prose, beside the code of Markdown."""

from collections.abc import Iterator

from sifaka.text.formats.markup_spans import Lines, Mark, pairs
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked
from sifaka.text.tables import patterns_of, words_of

_PATTERNS = patterns_of(__file__, "mdx")
_IN_A_LINE = words_of(__file__, "mdx")["in_a_line"]


def marks(text: str) -> Iterator[Mark]:
    """Imports and exports, elements' tags, expressions and comments in braces."""
    bare = blanked(text, code_spans(text))
    modules = list(_find_modules(bare))
    yield from modules
    bare = blanked(bare, [(mark.start, mark.end) for mark in modules])
    closed = pairs(bare, _PATTERNS["brace"])
    braces: list[Span] = []
    for start in sorted(closed):
        if not braces or start >= braces[-1][1]:
            braces.append((start, closed[start]))
    yield from (Mark(start, end, "code") for start, end in braces)
    for tag in _PATTERNS["tag"].finditer(blanked(bare, braces)):
        yield Mark(*tag.span(), "style" if tag["name"] in _IN_A_LINE else "block")


def _find_modules(text: str) -> Iterator[Mark]:
    """Imports and exports, each up to a blank line."""
    inside = False
    above_blank = True
    for line in Lines(text):
        inside = not line.blank and (
            inside or (above_blank and bool(_PATTERNS["module"].match(line.text)))
        )
        above_blank = line.blank
        if inside:
            yield Mark(line.start, line.end)
