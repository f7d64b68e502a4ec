"""The stems of words (Snowball), which inflected forms have in common.

Porter, "Snowball: A language for stemming algorithms", 2001.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, cast

_LATIN = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese",
    "it": "italian", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian",
    "fi": "finnish", "pl": "polish", "cs": "czech", "ro": "romanian", "tr": "turkish",
}  # fmt: skip
"""Of languages in Latin letters, by ISO 639-1."""
_SCRIPTS = (
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1F00, 0x1FFF, "greek"),
)
"""Of other alphabets, by the first and last code point."""
_LAST_LATIN = 0x02FF
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u0640]"
)
"""Diacritics, which may be left out in writing; those of Kana or Devanagari may not."""
_AROUND = re.compile("[ ()]")
"""Parts of characters such as `⑴`, which is found by its number."""
_own = threading.local()
"""A stemmer is for one thread."""


def fold(text: str) -> str:
    """The text without case and diacritics, in compatible characters: `ｶﾞ` is `ガ`."""
    if text.isascii():
        return text.lower()
    # Compatible characters first: some capitals of mathematics become letters only by that.
    folded = unicodedata.normalize("NFKD", text).casefold()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", folded))
    return unicodedata.normalize("NFC", _AROUND.sub("", plain))


@lru_cache(maxsize=32_768)
def stems(word: str, language: str) -> tuple[str, ...]:
    """The folded stems of a word as a text of this language has it; none where it is marks alone.

    There are two where diacritics matter to the stem, so that the word is also found without them.
    """
    algorithm = _algorithm(word, language)
    plain = fold(word)
    first = _stem(plain, algorithm)
    if word.isascii() or not first:
        return (first,) if first else ()
    second = fold(_stem(unicodedata.normalize("NFC", word.lower()), algorithm))
    return (first,) if first == second else (first, second)


@lru_cache(maxsize=4_096)
def possible_stems(word: str) -> frozenset[str]:
    """The stems of a word in any language: what a text that is found by it may have."""
    languages: Iterable[str] = _LATIN if _is_latin(word) else ("en",)
    return frozenset(stem for language in languages for stem in stems(word, language))


def _is_latin(word: str) -> bool:
    return ord(word[0]) <= _LAST_LATIN or 0x1E00 <= ord(word[0]) <= 0x1EFF


def _algorithm(word: str, language: str) -> str | None:
    if _is_latin(word):
        return _LATIN.get(language, "english")
    at = ord(word[0])
    return next((name for first, last, name in _SCRIPTS if first <= at <= last), None)


def _stem(word: str, algorithm: str | None) -> str:
    if algorithm is None:
        return word
    known: dict[str, Callable[[str], str]] = _own.__dict__
    if algorithm not in known:
        import Stemmer

        made = cast("Any", Stemmer).Stemmer(algorithm, 0)  # it has no types, and needs no cache
        known[algorithm] = made.stemWord
    return known[algorithm](word)
