"""The sentences and URLs of a text, each with its place."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice, pairwise

from sifaka.text.notation import MONTHS

Span = tuple[int, int]
"""Start and end offset, in Unicode code points."""

_URL = re.compile(r"(?:https?|ftp|mailto|file|wss?)://?[^\s<>\"'`)\]}]+|www\.[^\s<>\"'`)\]}]+")
_SENTENCE_END = re.compile(
    # One character in front of the alternatives makes it quick to search.
    r"[.!?…。！？｡।॥؟۔\n]"
    r"(?:(?<=[.!?…])(?<![.!?…].)[.!?…]*+[\"'”’)\]*_]*+(?=\s|\Z)"
    r"|(?<=[。！？｡])[。！？｡]*[\"'”’)\]*_」』）】〉》]*"
    r"|(?<=[।॥؟۔])[।॥؟۔]*(?=\s|\Z)|(?<=\n)[ \t]*\n)"
)
_WORD = re.compile(r"\s*([^\W\d]+)")
_TOKEN = re.compile(r"([a-z]+(?:'[a-z]+)?|\d+)")
_LONGEST_ORDINAL = 2
_MARGIN = 100
"""Characters in front of a list number and its full stop that are looked at."""
_BACKWARDS = re.compile(r"[\w.]*")
"""A word or an abbreviation, in a text that is turned round."""
_TITLES = frozenset(
    ["mr", "mrs", "ms", "dr", "prof", "st", "e.g", "i.e", "nr", "ca", "bzw", "ggf", "inkl", "zzgl"]
)
"""Abbreviations that a capital letter follows within a sentence."""
_ABBREVIATIONS = _TITLES | frozenset(
    re.findall(
        r"\S+",
        """rev hon jr sr gen col capt lt sgt vs etc fig figs no nos vol pp ed eds al approx est inc
        ltd co corp dept univ assn bros jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed
        thu fri sat sun cf viz a.m p.m u.s u.k u.n ph.d b.a m.a d.c""",
    )
)


def sentences(text: str) -> list[Span]:
    """The sentences, surrounding white space left out; a blank line ends one as well."""
    pieces: list[Span] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        blank_line = match.group().isspace()
        if not blank_line and match.end() < len(text) and _goes_on(text, match):
            continue
        pieces.append((start, match.start() if blank_line else match.end()))
        start = match.end()
    spans: list[Span] = []
    for begin, end in (*pieces, (start, len(text))):
        piece = text[begin:end].lstrip()
        if piece:
            spans.append((end - len(piece), end - len(piece) + len(piece.rstrip())))
    return spans


def word_places(text: str) -> Mapping[str, Sequence[int]]:
    """The offsets of each word and number, by its small letters with a straight apostrophe."""
    # The one letter that becomes two when it is made small.
    pieces = _TOKEN.split(text.replace("’", "'").replace("İ", "ı").lower())
    places: dict[str, list[int]] = defaultdict(list)
    # Gaps and words take turns: a word begins where the gap before it ends.
    for start, word in zip(
        islice(accumulate(map(len, pieces)), 0, None, 2), pieces[1::2], strict=False
    ):
        places[word].append(start)
    return places


def urls(text: str) -> list[Span]:
    """The URLs, without the punctuation that ends the sentence around them."""
    return [
        (match.start(), match.start() + len(match.group().rstrip(".,;:!?*_")))
        for match in _URL.finditer(text)
    ]


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """True when the full stop belongs to an abbreviation, an initial or a list number."""
    if match.group()[0] != ".":
        return False
    before = _BACKWARDS.match(text[max(0, match.start() - 20) : match.start()][::-1])
    word = before.group()[::-1].lower() if before else ""
    if word in _ABBREVIATIONS:
        following = text[match.end() : match.end() + 200].lstrip()[:1]
        return not following.isupper() or word in _TITLES
    if len(word) == 1 and word.isalpha() and word != "i":
        return True
    if not word.isdigit():
        return False
    line_start = text.rfind("\n", max(0, match.start() - _MARGIN), match.start()) + 1
    following = _WORD.match(text, match.end())
    # A list number, or an ordinal such as `3. März` and `3. und`.
    return text[line_start : match.start()].strip() == word or (
        following is not None
        and (following[1].islower() or following[1].casefold() in MONTHS)
        and len(word) <= _LONGEST_ORDINAL
    )


_SHORT, _KEPT = 20_000, 64
"""Texts of up to so many characters are kept with their sentences, so many at most."""

_BLOCK_END = re.compile(r"\n(?=[ \t]*(?:\n|(?:[-*+•]|\d{1,3}[.)])[ \t]))")


def sentence_spans(text: str) -> Sequence[Span]:
    """The sentences of `sifaka.text.prose`; an item of a list ends one as well."""
    return _kept_spans(text) if len(text) <= _SHORT else _spans(text)


def _spans(text: str) -> Sequence[Span]:
    ends = [match.end() for match in _BLOCK_END.finditer(text)]
    return tuple(
        (start + first, start + last)
        for start, end in pairwise((0, *ends, len(text)))
        for first, last in sentences(text[start:end])
    )


_kept_spans = lru_cache(maxsize=_KEPT)(_spans)


def whole_words(text: str, most: int) -> str:
    """The beginning of a text of at most `most` characters, cut at the end of a word."""
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0].rstrip() or text[:most]


def trimmed(text: str, start: int, end: int) -> Span:
    """A stretch without the white space at its ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with spaces in place of the spans; line breaks and offsets stay."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at : max(at, start)], re.sub(r"[^\n]", " ", text[max(at, start) : end])]
            at = end
    return "".join((*pieces, text[at:]))


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
