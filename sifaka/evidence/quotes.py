"""Looks up quotes in the texts they are said to be from."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property

from sifaka.text.prose import Span, trimmed
from sifaka.text.statements import Fold, folding, normalised

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
_TYPOGRAPHY: Sequence[Fold] = (
    (r"[\s-]{2,}", lambda run: "-" if run.group().strip() else " "),
    ("'{2,}", "'"),
    (r"\.\.\.", "…"),
    (
        rf"[^\s{_MARKS}][{_MARKS}]{{1,30}}|[\u1100-\u11ff]{{2,3}}",
        lambda letter: unicodedata.normalize("NFC", letter.group()),
    ),
)
"""Of a text in lower case."""
_Form = tuple[str, Sequence[int], Sequence[int]]
"""A text as it is compared, with the places in the original where each of its characters begins,
and where what ends before it ends."""
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
        for form, (words, starts, ends) in self._forms(wanted):
            if not _is_telling(form):
                return None
            for each in dict.fromkeys((form, form.strip(_EDGE + _STOPS))):
                span = _place(each, words)
                if span is not None:
                    # A dash at its edge stands for the spaces around it too.
                    return trimmed(self.text, starts[span[0]], ends[span[1]])
        return None

    def _forms(self, quote: str) -> Iterator[tuple[str, _Form]]:
        """The quote and the text: as written, apart from typography, and as a reader hears them."""
        places = range(len(self.text) + 1)
        yield quote, (self.text, places, places)
        yield _plain(quote)[0], self._plain
        yield _plain(normalised(quote))[0].strip(_EDGE), self._read

    @cached_property
    def _plain(self) -> _Form:
        return _plain(self.text)

    @cached_property
    def _read(self) -> _Form:
        words, at = folding(_PAGE.sub(lambda match: " " * len(match.group()), self.text))
        plain, starts, ends = _plain(words)
        # Marks that are gone after the last character are not among the words.
        return plain, [at[each] for each in starts], [at[each - 1] + 1 for each in ends]


def _plain(text: str) -> _Form:
    """A text without differences of typography; what has changed is in its place whole."""
    plain, places = folding(_lower(text), _TYPOGRAPHY)
    return plain, places, places


def _lower(text: str) -> str:
    """The text in lower case, each character as one."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals become two characters
        lower = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lower.translate(_SAME)


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
