"""The words of a text in any script, as a reader counts them.

Chinese and Japanese put no space between words, and their lengths are given in characters: each is
one here. So is each character of Lao, Khmer and Burmese, whose words would take a dictionary. Thai
is cut into words by a model.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import compress, islice, pairwise, repeat
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sifaka.text.prose import Span

if TYPE_CHECKING:
    from regex import Pattern

_PAD = "\0\0\0"
"""Around a run: no feature of the model has such a character."""
_FEATURES = (
    *(("UW", number, 1, number - 1) for number in range(1, 7)),
    *(("BW", number, 2, number) for number in range(1, 4)),
    *(("TW", number, 3, number - 1) for number in range(1, 5)),
)
"""Kind, number, length in characters, and the place of the first one, counted from three
characters before the boundary that is asked about."""


def thai_words(run: str) -> Iterator[Span]:
    """The words of letters, marks and digits of Thai that stand together.

    A boundary is where the linear model of BudouX says so: the characters, pairs and triples
    around a place are weighed.
    """
    singles = f"{_PAD}{run}{_PAD}"
    pairs = list(map(add, singles, singles[1:]))
    grams = (singles, pairs, list(map(add, pairs, singles[2:])))
    weights, least = _model()
    count = len(run) - 1
    scores = map(
        sum,
        zip(
            *(
                map(weights[f"{kind}{number}"].get, grams[length - 1][at + 1 :], repeat(0))
                for kind, number, length, at in _FEATURES
            ),
            strict=False,
        ),
    )
    ends = compress(range(1, count + 1), (score > least for score in scores))
    yield from pairwise((0, *ends, len(run)))


@lru_cache(maxsize=1)
def _model() -> tuple[Mapping[str, Mapping[str, int]], float]:
    """The weights of each feature, and the sum of them that a boundary has to exceed."""
    model = json.loads(Path(__file__).with_name("thai.json").read_bytes())
    weights = {
        f"{kind}{number}": model.get(f"{kind}{number}", {}) for kind, number, *_ in _FEATURES
    }
    return weights, sum(sum(each.values()) for each in model.values()) / 2


_JOINT = r"(?:['’\-–./&@_]|(?<=\d)[,:](?=\d))"
"""What stands within one word or one number."""
_PLAIN = re.compile(rf"[^\W_]+(?:{_JOINT}[^\W_]+)*")
"""A word where no letter is above U+02FF: no marks, and spaces between words."""
# What they do not match is said: sets of all characters from one on take milliseconds to compile.
_MARKED = re.compile("[^\u0000-\u02ff]")
_BEYOND_LATIN = re.compile("[^\u0000-\u02ff\u1e00-\u2bff]")
SIGNS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}ー々〇"
"""The scripts whose characters are counted one by one, in the language of `regex`."""
HALF_WIDTH_MARKS = "\uff9e\uff9f"
"""Of Kana: part of the sign before."""
UNSPACED = r"\p{Lao}\p{Khmer}\p{Myanmar}"
"""More scripts without spaces between words."""
_MOSTLY = 0.9
"""The share of one kind from which all are called by its name."""


class Count(NamedTuple):
    """The length of a text."""

    words: int
    characters: int
    """Of scripts that are counted by characters; punctuation is not counted."""

    @property
    def total(self) -> int:
        """Both together."""
        return self.words + self.characters

    @property
    def unit(self) -> str:
        """`words`, `characters`, or both where the text has many of both."""
        if self.words >= _MOSTLY * self.total:
            return "words"
        return "characters" if self.characters >= _MOSTLY * self.total else "words and characters"


def words(text: str) -> list[Span]:
    """The words, numbers included, as between spaces: `e-mail`, `240,000`, `80–240`, `€3/m²`."""
    return list(_spans(text))


def nth_word(text: str, number: int) -> Span | None:
    """The nth word, from 0 on; None of a text with fewer."""
    return next(islice(_spans(text), number, None), None)


def count(text: str) -> Count:
    """The number of words, and of characters that count like one."""
    if not _BEYOND_LATIN.search(text):
        return Count(len(_PLAIN.findall(text)), 0)
    spaced = characters = 0
    for match in _pattern().finditer(text):
        match match.lastgroup:
            case "thai":
                spaced += sum(1 for _ in thai_words(match.group()))
            case "sign":
                characters += 1
            case _:
                spaced += 1
    return Count(spaced, characters)


def count_words(text: str) -> int:
    """The number of words; faster than `words`."""
    return count(text).total


def count_characters(text: str) -> int:
    """The number of characters as a reader sees them: grapheme clusters of Unicode's UAX 29."""
    if not _MARKED.search(text) and "\r\n" not in text:
        return len(text)
    return sum(1 for _ in _cluster().finditer(text))


def nth_character(text: str, number: int) -> int | None:
    """The offset of the nth grapheme cluster, from 0 on; None of a text with fewer."""
    if not _MARKED.search(text) and "\r\n" not in text:
        return number if number < len(text) else None
    found = next(islice(_cluster().finditer(text), number, None), None)
    return None if found is None else found.start()


def _spans(text: str) -> Iterator[Span]:
    if not _BEYOND_LATIN.search(text):
        yield from (match.span() for match in _PLAIN.finditer(text))
        return
    for match in _pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup == "thai":
            yield from ((start + a, start + b) for a, b in thai_words(match.group()))
        else:
            yield start, end


@lru_cache(maxsize=1)
def _pattern() -> "Pattern[str]":
    import regex  # loaded for the first text that is not Latin alone

    apart = rf"{SIGNS}{HALF_WIDTH_MARKS}{UNSPACED}\p{{Thai}}"
    word = rf"[[\p{{L}}\p{{N}}]--[{apart}]][[\p{{L}}\p{{N}}\p{{M}}]--[{apart}]]*+"
    return regex.compile(
        rf"(?V1)(?P<thai>[\p{{Thai}}&&[\p{{L}}\p{{N}}\p{{M}}]]++)"
        rf"|(?P<sign>[[{SIGNS}{UNSPACED}]&&[\p{{L}}\p{{N}}]][\p{{M}}{HALF_WIDTH_MARKS}]*+)"
        rf"|{word}(?:{_JOINT}{word})*+"
    )


@lru_cache(maxsize=1)
def _cluster() -> "Pattern[str]":
    import regex

    return regex.compile(r"\X")
