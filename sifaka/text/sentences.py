"""The sentences of Markdown, found in time that grows with the text's length."""

import re
from collections.abc import Iterable, Iterator

from sifaka.text.prose import Span, sentences

PIECE = 1_000
"""From how many characters on a paragraph is searched in several pieces."""
LONG_PIECE = 2_000
"""From how many on a piece ends even where that may split an abbreviation from what follows."""

_BLOCK_END = re.compile(r"\n(?=[ \t]*(?:\n|(?:[-*+•]|\d{1,3}[.)])[ \t]))")
_SURE_END = re.compile(r"[a-z]{7}[.!?]\s+(?=[A-Z])")
"""The end of a sentence that cannot be an abbreviation."""
_ANY_END = re.compile(r"[.!?।؟۔]\s+|[。！？｡][」』）】〉》]*")


def sentence_spans(text: str) -> Iterator[Span]:
    """The sentences of `sifaka.text.prose`; an item of a list ends one as well."""
    start = 0
    for cut in _BLOCK_END.finditer(text):
        yield from _in_block(text, start, cut.end())
        start = cut.end()
    yield from _in_block(text, start, len(text))


def _in_block(text: str, start: int, end: int) -> Iterator[Span]:
    # In pieces, because to find all sentences at once takes quadratic time.
    while start < end:
        cut = _SURE_END.search(text, start + PIECE, min(end, start + LONG_PIECE))
        cut = cut or _ANY_END.search(text, start + LONG_PIECE, end)
        stop = cut.end() if cut else end
        for first, last in sentences(text[start:stop]):
            yield start + first, start + last
        start = stop


def blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with spaces in place of the spans; line breaks and offsets stay."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at : max(at, start)], re.sub(r"[^\n]", " ", text[max(at, start) : end])]
            at = end
    return "".join((*pieces, text[at:]))
