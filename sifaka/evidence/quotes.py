"""Looks up quotes in the texts they are said to be from."""

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property

from sifaka.text.prose import Span
from sifaka.text.statements import folding, normalised

_SHORTEST_WORDS = 2
_SHORTEST = 8
"""Letters and digits of a quote: a common word that stands everywhere proves nothing."""
_SHORTEST_UNSPACED = 4
"""The same in scripts that write a word in one or two characters."""
_LONGEST = 1_000
"""Characters of a quote; what is longer is a copy."""
_MOST_PLACES = 1_000
"""Places at which the characters of a quote may stand inside of longer words before it counts as
not found: a bound for hostile texts."""

_QUOTES = "\"'`´‘’‚‛“”„‟′″«»‹›"
_DASHES = "-‐‑‒–—―−﹣－"
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# One character for one; the rest of what is the same changes the length of a text.
_SAME = str.maketrans(
    dict.fromkeys(_QUOTES, "'")
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_SPACES, " ")
    | {"ς": "σ", "ſ": "s", "µ": "μ", "İ": "i"}
)
_MARKS = "\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a"
# Whole runs each: of neighbours that match the same, a pattern would try every division. A run of
# marks over a letter is cut, as to order them takes quadratic time.
_CHANGING = re.compile(
    rf"(?P<run>[\s{re.escape(_DASHES)}]{{2,}})|(?P<marks>[{re.escape(_QUOTES)}]{{2,}})"
    rf"|(?P<dots>\.\.\.)|(?P<letter>[^\s{_MARKS}][{_MARKS}]{{1,30}}|[\u1100-\u11ff]{{2,3}})"
)
_EDGE = f"{_QUOTES}\u2026 \t\r\n"
_STOPS = ".,;:!?"
_PAGE = re.compile(
    r"(?<=\n)[ \t\f]{0,40}(?:page |- ?)?\d{1,4}(?: ?-)?[ \t]{0,40}(?=\n|\f)", re.IGNORECASE
)
"""The number of a page, alone on its line."""
_WORD = re.compile(r"[^\W_]+")
# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def find_quote(quote: str, text: str) -> str | None:
    """The quoted words exactly as they stand in a text; see `QuotableText.find`."""
    span = QuotableText(text).find(quote)
    return None if span is None else text[slice(*span)]


class QuotableText:
    """A text in which quotes are looked up, each in time that grows with the text's length."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> Span | None:
        """The place of the quoted words.

        Case, white space, kinds of quotation marks and dashes, and composed characters do not
        count, nor does punctuation around the quote, nor what a page puts in: hyphens at line
        ends, ligatures, footnote marks, mark-up, its number, line breaks inside numbers. Every
        word and every digit does. A quote begins and ends where words and numbers do. One with an
        omission is not found unless the text has the same dots: what was left out may have been a
        `not`. Quote each part by itself.

        Returns:
            The words' place, where they stand with the same capitals and marks if they do; None
            when they are not there, are fewer than two, have fewer than eight letters and digits,
            or are longer than 1,000 characters.
        """
        if len(quote) > _LONGEST:
            return None
        wanted = unicodedata.normalize("NFC", quote).strip(_EDGE)
        if not _is_telling(wanted):
            return None
        return self.find_as_written(wanted) or self._as_read(normalised(wanted).strip(_EDGE))

    def find_as_written(self, quote: str) -> Span | None:
        """The place of words as they stand, or apart from typography."""
        for each in dict.fromkeys((quote, quote.strip(_EDGE + _STOPS))):
            span = _place(each, self.text) or self._apart_from_typography(each)
            if span is not None:
                return span
        return None

    def _as_read(self, quote: str) -> Span | None:
        """The place of words as a reader hears them: apart from what a page or its marks put in."""
        words, places = self._read
        if words == self.text or not _is_telling(quote):
            return None
        span = QuotableText(words).find_as_written(quote)
        return None if span is None else (places[span[0]], places[span[1] - 1] + 1)

    @cached_property
    def _read(self) -> tuple[str, list[int]]:
        return folding(_PAGE.sub(lambda match: " " * len(match.group()), self.text))

    def _apart_from_typography(self, quote: str) -> Span | None:
        span = _place(_Plain(quote).text, self._plain.text)
        if span is None:
            return None
        start, end = self._plain.original(*span)
        # A dash at its edge stands for the spaces around it too.
        words = self.text[start:end]
        return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())

    @cached_property
    def _plain(self) -> "_Plain":
        return _Plain(self.text)


class _Plain:
    """A text without differences of typography, and the way back to its offsets."""

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        # Of each stretch: where it begins in the plain text and in the original.
        self._plain_at, self._original_at = [0], [0]
        at = length = 0
        for match in _CHANGING.finditer(text):
            changed = _changed(match)
            parts += [_lower(text[at : match.start()]), changed]
            begins = length + match.start() - at
            length, at = begins + len(changed), match.end()
            self._plain_at += [begins, length]
            self._original_at += [match.start(), at]
        parts.append(_lower(text[at:]))
        self.text = "".join(parts)

    def original(self, start: int, end: int) -> Span:
        """The offsets in the original; a changed character is in it whole."""
        return self._back(start, up=False), self._back(end, up=True)

    def _back(self, offset: int, *, up: bool) -> int:
        stretch = bisect_right(self._plain_at, offset) - 1
        past = offset - self._plain_at[stretch]
        if stretch % 2 and past:  # inside a changed character
            return self._original_at[stretch + 1 if up else stretch]
        return self._original_at[stretch] + past


def _changed(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "run":
            return "-" if match.group().strip() else " "
        case "marks":
            return "'"
        case "dots":
            return "…"
        case _:
            return _lower(unicodedata.normalize("NFC", match.group()))


def _lower(part: str) -> str:
    """The part in lower case, each character as one."""
    part = part.translate(_SAME)
    lower = part.lower()
    if len(lower) == len(part) and "σ" not in lower and "ς" not in lower:
        return lower
    # The last sigma of a word has a form of its own, and some capitals become two characters.
    return "".join(low if len(low := c.lower()) == 1 else c for c in part)


def _is_telling(quote: str) -> bool:
    words = _WORD.findall(quote)
    if len(_UNSPACED.findall(quote)) >= _SHORTEST_UNSPACED:
        return True
    return len(words) >= _SHORTEST_WORDS and sum(map(len, words)) >= _SHORTEST


def _place(quote: str, text: str) -> Span | None:
    """The first place of the same characters that begins and ends where words and numbers do."""
    at = -1
    for _ in range(_MOST_PLACES):
        at = text.find(quote, at + 1)
        if at < 0:
            return None
        end = at + len(quote)
        if _begins(quote[0], text, at) and _ends(quote[-1], text, end):
            return at, end
    return None


def _begins(first: str, text: str, at: int) -> bool:
    if not at or not first.isalnum() or _UNSPACED.match(first):
        return True
    before = text[max(0, at - 2) : at]
    inside_number = first.isdigit() and before[:-1].isdigit() and before[-1] in ".,"
    return not before[-1].isalnum() and not inside_number


def _ends(last: str, text: str, end: int) -> bool:
    if end == len(text) or not last.isalnum() or _UNSPACED.match(last):
        return True
    after = text[end : end + 2]
    inside_number = last.isdigit() and after[0] in ".," and after[1:].isdigit()
    return not after[0].isalnum() and not "\u0300" <= after[0] <= "\u036f" and not inside_number
