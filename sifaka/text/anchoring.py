"""Finding what a critic quotes in the text it is about."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from sifaka.text.numbers_and_names import Fold, folding
from sifaka.text.prose import Span

_SIMILAR = 90.0
"""Percent of likeness from which a quote counts as found; below it, it was invented."""
_SHORTEST_SIMILAR = 4
"""Characters; what is shorter cannot be recognised in another spelling."""
_LONGEST_SIMILAR = 500
"""Characters; what is longer has to stand in the text as it is quoted."""
_COMPARED_WHOLE = 5_000
"""Characters of a text that is compared as a whole; in a longer one only likely places are."""
_PIECES, _PIECE, _HITS, _PLACES = 12, 8, 100, 5
"""Pieces of a quote that are looked up, their length, how often each, and the places compared."""

_EDGE = re.compile(r"(?<![^\W_])|(?![^\W_])")
"""A place that is not inside a word."""
_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'") | dict.fromkeys("“”„‟″«»", '"') | dict.fromkeys("‐‑‒–—−", "-")
)
_CHANGING: Sequence[Fold] = (
    (r"\s{2,}|[^\S ]", " "),
    ("…", "..."),
    (
        r"\S[\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a]+",
        lambda letter: unicodedata.normalize("NFC", letter.group()),
    ),
)
"""The replacements that change the length of a text."""


def anchor(text: str, quote: str) -> Span | None:
    """The offsets of the first place of a quote, or None when nothing in the text is like it.

    A quote is found as it is, else apart from kinds of quotation marks, dashes, spaces and composed
    characters, else at the most similar place. Its cost is bounded: a million characters and fifty
    quotes take well under a second.
    """
    quote = quote.strip()
    start = text.find(quote)
    if quote and start >= 0:
        return start, start + len(quote)
    wanted = folding(quote.translate(_SAME), _CHANGING)[0].strip()
    if not wanted:
        return None
    folded, places = _fold_text(text)
    start = folded.find(wanted)
    if start >= 0:
        return _find_original(places, start, start + len(wanted))
    if not _SHORTEST_SIMILAR <= len(wanted) <= _LONGEST_SIMILAR:
        return None
    similar = _find_similar(wanted, folded)
    return None if similar is None else _find_original(places, *similar)


@lru_cache(maxsize=1)
def _fold_text(text: str) -> tuple[str, Sequence[int]]:
    """The text without differences of typography, and the place of each of its characters.

    The last one is kept: critics all quote the same text.
    """
    return folding(text.translate(_SAME), _CHANGING)


def _find_original(places: Sequence[int], start: int, end: int) -> Span:
    """The offsets in the original; a changed character is in it whole."""
    first = places[start]
    while end < len(places) - 1 and places[end] == places[end - 1]:
        end += 1
    return first, places[end]


def _find_similar(quote: str, text: str) -> Span | None:
    from rapidfuzz import fuzz

    if len(quote) >= len(text):  # there is nothing in the text that could be all of the quote
        return (0, len(text)) if fuzz.ratio(quote, text) >= _SIMILAR else None
    for start, end in _find_likely(quote, text):
        match = fuzz.partial_ratio_alignment(
            quote, text[start:end], processor=None, score_cutoff=_SIMILAR
        )
        if match is not None and match.dest_end > match.dest_start:
            return _move_to_words(quote, text, (start + match.dest_start, start + match.dest_end))
    return None


def _find_likely(quote: str, text: str) -> Iterator[Span]:
    """The stretches of a text in which a similar place can be: where pieces of the quote agree."""
    if len(text) <= _COMPARED_WHOLE:
        yield 0, len(text)
        return
    # When one character in ten is wrong, a piece is intact in four cases out of ten.
    pieces = min(_PIECES, max(2, len(quote) // _PIECE))
    size = min(_PIECE, len(quote) // pieces)
    margin = len(quote) // 8 + 2
    agreeing: defaultdict[int, float] = defaultdict(float)
    for number in range(pieces):
        offset = number * (len(quote) - size) // (pieces - 1)
        hits = islice(re.finditer(re.escape(quote[offset:][:size]), text), _HITS)
        places = {(hit.start() - offset) // margin for hit in hits}
        for place in places:
            agreeing[place] += 1 / len(places)  # what stands everywhere points nowhere
    ranked = sorted(agreeing, key=lambda place: (-agreeing[place], place))
    for place in ranked[:_PLACES]:
        start = (place - 1) * margin
        yield max(0, start), min(len(text), start + len(quote) + 4 * margin)


def _move_to_words(quote: str, text: str, similar: Span) -> Span:
    """The place moved to the ends of words, where that makes it more similar or as similar.

    A place of exactly the quote's length cuts a word where the quote has a letter more or less.
    """
    from rapidfuzz import fuzz

    starts, ends = (
        [
            at
            for at in range(max(0, near - 3), min(len(text), near + 3) + 1)
            if _EDGE.match(text, at)
        ]
        for near in similar
    )
    candidates: Sequence[Span] = [
        (start, end) for start in starts for end in ends if text[start:end].strip()
    ]
    # The place as it is comes last: a draw goes to whole words.
    return max((*candidates, similar), key=lambda span: fuzz.ratio(quote, text[span[0] : span[1]]))
