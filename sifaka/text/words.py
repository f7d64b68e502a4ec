"""The words of a text in any script, as a reader counts them.

Chinese and Japanese put no space between words, and their lengths are given in characters: each is
one here. So is each character of Thai, Lao, Khmer and Burmese, whose words would take a dictionary.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sifaka.text.prose import Span

if TYPE_CHECKING:
    from regex import Pattern

_JOINT = r"(?:['’\-–./&@_]|(?<=\d)[,:](?=\d))"
"""Marks within one word or one number."""
_PLAIN = re.compile(rf"[^\W_]+(?:{_JOINT}[^\W_]+)*")
"""A word where no letter is above U+02FF: no marks, and spaces between words."""
# Negated sets of characters: sets of all characters from one on take milliseconds to compile.
_MARKED = re.compile("[^\u0000-\u02ff]")
_BEYOND_LATIN = re.compile("[^\u0000-\u02ff\u1e00-\u2bff]")
SIGNS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}ー々〇"
"""The scripts whose characters are counted one by one, in the language of `regex`."""
HALF_WIDTH_MARKS = "\uff9e\uff9f"
"""Of Kana: part of the sign before."""
UNSPACED = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""More scripts without spaces between words."""
_MOSTLY = 0.9
"""The share of one kind from which all are called by its name."""


class TextLength(NamedTuple):
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
    return list(_find_words(text))


def nth_word(text: str, number: int) -> Span | None:
    """The nth word, from 0 on; None of a text with fewer."""
    return next(islice(_find_words(text), number, None), None)


def count(text: str) -> TextLength:
    """The number of words, and of characters that count like one."""
    if not _BEYOND_LATIN.search(text):
        return TextLength(len(_PLAIN.findall(text)), 0)
    kinds = Counter(match.lastgroup for match in _word_pattern().finditer(text))
    return TextLength(kinds[None], kinds["sign"])


def count_words(text: str) -> int:
    """The number of words; faster than `words`."""
    return count(text).total


def count_characters(text: str) -> int:
    """The number of characters as a reader sees them: grapheme clusters of Unicode's UAX 29."""
    return len(_find_clusters(text))


def nth_character(text: str, number: int) -> int | None:
    """The offset of the nth grapheme cluster, from 0 on; None of a text with fewer."""
    return next(islice(_find_clusters(text), number, None), None)


def _find_words(text: str) -> Iterator[Span]:
    pattern = _word_pattern() if _BEYOND_LATIN.search(text) else _PLAIN
    return (match.span() for match in pattern.finditer(text))


@lru_cache(maxsize=1)
def _word_pattern() -> "Pattern[str]":
    import regex  # loaded for the first text that is not Latin alone

    unspaced = rf"{SIGNS}{HALF_WIDTH_MARKS}{UNSPACED}"
    word = rf"[[\p{{L}}\p{{N}}]--[{unspaced}]][[\p{{L}}\p{{N}}\p{{M}}]--[{unspaced}]]*+"
    return regex.compile(
        rf"(?V1)(?P<sign>[[{SIGNS}{UNSPACED}]&&[\p{{L}}\p{{N}}]][\p{{M}}{HALF_WIDTH_MARKS}]*+)"
        rf"|{word}(?:{_JOINT}{word})*+"
    )


def _find_clusters(text: str) -> Sequence[int]:
    """The offsets of the grapheme clusters."""
    if not _MARKED.search(text) and "\r\n" not in text:
        return range(len(text))
    import regex

    return [match.start() for match in regex.finditer(r"\X", text)]
