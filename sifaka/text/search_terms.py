"""The terms by which texts are found.

A word is found by its stem, which inflected forms have in common: Porter, "Snowball: A language for
stemming algorithms", 2001. Where no space is between words (Chinese, Japanese, Thai), and in
Korean, whose words carry their particles, a run of characters is found by its pairs, which takes no
dictionary: Nie, Gao, Zhang and Zhou, "On the Use of Words and N-grams for Chinese Information
Retrieval", 2000.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING, Any, cast

from sifaka.text.language import tell_language
from sifaka.text.prose import Span, merged
from sifaka.text.words import HALF_WIDTH_MARKS, SIGNS, UNSPACED

if TYPE_CHECKING:
    from regex import Pattern

# --- stems ---

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
    algorithm = _choose_stemmer(word, language)
    plain = fold(word)
    first = _stem_word(plain, algorithm)
    if word.isascii() or not first:
        return (first,) if first else ()
    second = fold(_stem_word(unicodedata.normalize("NFC", word.lower()), algorithm))
    return (first,) if first == second else (first, second)


@lru_cache(maxsize=4_096)
def possible_stems(word: str) -> frozenset[str]:
    """The stems of a word in any language: what a text that is found by it may have."""
    languages: Iterable[str] = _LATIN if _is_latin(word) else ("en",)
    return frozenset(stem for language in languages for stem in stems(word, language))


def _is_latin(word: str) -> bool:
    return ord(word[0]) <= _LAST_LATIN or 0x1E00 <= ord(word[0]) <= 0x1EFF


def _choose_stemmer(word: str, language: str) -> str | None:
    if _is_latin(word):
        return _LATIN.get(language, "english")
    at = ord(word[0])
    return next((name for first, last, name in _SCRIPTS if first <= at <= last), None)


def _stem_word(word: str, algorithm: str | None) -> str:
    if algorithm is None:
        return word
    stemmers: dict[str, Callable[[str], str]] = _own.__dict__
    if algorithm not in stemmers:
        import Stemmer

        made = cast("Any", Stemmer).Stemmer(algorithm, 0)  # it has no types, and needs no cache
        stemmers[algorithm] = made.stemWord
    return stemmers[algorithm](word)


# --- terms ---

_ROOM = 3
"""The characters of a run that take the room of a word in a snippet."""
_FIRST_OF_A_RUN = 0x0E00
_SAMPLE = 1_000
"""Characters of the beginning of a text that tell its language."""
LONGEST = 64
"""Characters of a term; what is longer is cut."""
MOST_TERMS = 128
"""Of a longer query the first terms decide: each costs a pass over its matches."""
_PLAIN = re.compile(r"[^\W_]+")
_BEYOND_LATIN = re.compile("[\u0300-\u1dff\u2c00-\U0010ffff]")


def word_spans(text: str) -> Iterator[Span]:
    """The words of a text and its runs without spaces, each with its place."""
    pattern = _word_pattern() if _BEYOND_LATIN.search(text) else _PLAIN
    return (match.span() for match in pattern.finditer(text))


def language_of(*texts: str) -> str:
    """The language by which texts are stemmed together; English where none is recognised."""
    return tell_language("\n".join(text[:_SAMPLE] for text in texts)).language or "en"


def text_terms(text: str, language: str) -> list[str]:
    """The terms of a text, in order and as often as they are there."""
    return [
        term for span in word_spans(text) for term in _split_terms(text[slice(*span)], language)
    ]


def term_counts(text: str, language: str) -> Counter[str]:
    """How often a text has each term; faster than to count `text_terms`."""
    counts: Counter[str] = Counter()
    for word, count in Counter(text[slice(*span)] for span in word_spans(text)).items():
        for term in _split_terms(word, language):
            counts[term] += count
    return counts


def query_terms(words: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The terms of a query, each with all its forms, any of which is a match; different ones only.

    Args:
        words: Words and runs as they are written.
    """
    terms: dict[str, frozenset[str]] = {}
    for word in words:
        if _is_run(word[0]):
            for term in _pair_signs(word[:MOST_TERMS]):
                terms.setdefault(term, frozenset((term,)))
        else:
            terms.setdefault(fold(word)[:LONGEST], possible_stems(word[:LONGEST]))
        if len(terms) >= MOST_TERMS:
            break
    return tuple(terms.values())[:MOST_TERMS]


def parts(text: str, span: Span) -> Iterator[Span]:
    """The word, or a run in parts that take the room of a word."""
    start, end = span
    if not _is_run(text[start]):
        yield span
        return
    for at in range(start, end, _ROOM):
        yield at, min(at + _ROOM, end)


def places(text: str, span: Span, wanted: frozenset[str], language: str) -> Iterator[Span]:
    """The word, or the parts of a run, that match one of the wanted forms."""
    start, end = span
    if _is_run(text[start]):
        plain = fold(text[start:end])
        if any(form in plain for form in wanted):
            yield from merged(_find_forms(text, span, wanted))
    elif not wanted.isdisjoint(stems(text[start : min(end, start + LONGEST)], language)):
        yield span


def _find_forms(text: str, span: Span, wanted: frozenset[str]) -> Iterator[Span]:
    """The longest wanted form at each place of a run."""
    for at in range(*span):
        for stop in (at + 2, at + 1):
            if fold(text[at : min(stop, span[1])]) in wanted:
                yield at, min(stop, span[1])
                break


def _split_terms(word: str, language: str) -> Iterable[str]:
    """Those of a word, or of a run without spaces."""
    return _split_run(word) if _is_run(word[0]) else stems(word[:LONGEST], language)


def _split_run(run: str) -> Iterator[str]:
    plain = fold(run)
    yield from plain
    yield from map(add, plain, plain[1:])


def _pair_signs(run: str) -> Sequence[str]:
    plain = fold(run)
    return list(map(add, plain, plain[1:])) or [plain]


def _is_run(character: str) -> bool:
    if ord(character) < _FIRST_OF_A_RUN:
        return False
    match = _word_pattern().match(character)
    return match is not None and match.lastgroup == "run"


@lru_cache(maxsize=1)
def _word_pattern() -> "Pattern[str]":
    import regex  # loaded for the first text that is not Latin alone

    unspaced = rf"{SIGNS}{HALF_WIDTH_MARKS}{UNSPACED}\p{{Hangul}}"
    letters = r"\p{L}\p{N}\p{M}"
    return regex.compile(
        rf"(?V1)(?P<run>[[{unspaced}]&&[{letters}]][[{unspaced}\p{{M}}]&&[{letters}]]*+)"
        rf"|[[\p{{L}}\p{{N}}]--[{unspaced}]][[{letters}]--[{unspaced}]]*+"
    )
