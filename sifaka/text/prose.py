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
    r"|(?<=[।॥؟۔])[।॥؟۔]*(?=\s|\Z)"
    r"|(?<=\n)(?=[ \t]*(?:\n|(?:[-*+•]|\d{1,3}[.)])[ \t])))"
)
_WORD = re.compile(r"\s*([^\W\d]+)")
_TOKEN = re.compile(r"([a-z]+(?:'[a-z]+)?|\d+)")
_MARGIN = 100
"""Characters in front of a list number and its full stop that are read."""
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


@lru_cache(maxsize=16)
def sentences(text: str) -> Sequence[Span]:
    """The sentences, without white space around them; blank lines and list items end one too."""
    matches = _SENTENCE_END.finditer(text)
    ends = [m.end() for m in matches if m.end() == len(text) or not _goes_on(text, m)]
    pieces = ((text[start:end].lstrip(), end) for start, end in pairwise((0, *ends, len(text))))
    return tuple(
        (end - len(piece), end - len(piece) + len(piece.rstrip())) for piece, end in pieces if piece
    )


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
    at, end = match.span()
    if match.group()[0] != ".":
        return False
    word = re.split(r"[^\w.]", text[max(0, at - 20) : at])[-1].lower()
    if word in _ABBREVIATIONS:
        return word in _TITLES or not text[end : end + 200].lstrip()[:1].isupper()
    if not word.isdigit():
        return len(word) == 1 and word.isalpha() and word != "i"
    line_start = text.rfind("\n", max(0, at - _MARGIN), at) + 1
    following = _WORD.match(text, end)
    # A list number, or an ordinal such as `3. März` and `3. und`.
    return text[line_start:at].strip() == word or (
        following is not None
        and (following[1].islower() or following[1].casefold() in MONTHS)
        and len(word) <= 2
    )


def whole_words(text: str, most: int) -> str:
    """The beginning of a text of at most `most` characters, cut at the end of a word."""
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0].rstrip() or text[:most]


def cut_line(text: str, most: int) -> str:
    """The words of a text in one line of at most `most` characters; the last tells what is cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


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
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result
