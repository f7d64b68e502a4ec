"""The terms by which texts are found.

A word is found by its stem. Where no space is between words (Chinese, Japanese, Thai), and in
Korean, whose words carry their particles, a run of characters is found by its pairs, which takes no
dictionary: Nie, Gao, Zhang and Zhou, "On the Use of Words and N-grams for Chinese Information
Retrieval", 2000.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING

from sifaka.text.language import tell_language
from sifaka.text.prose import Span, merged
from sifaka.text.stems import fold, possible_stems, stems
from sifaka.text.words import HALF_WIDTH_MARKS, SIGNS, UNSPACED

if TYPE_CHECKING:
    from regex import Pattern

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


def written(text: str) -> Iterator[Span]:
    """The words of a text and its runs without spaces, each with its place."""
    pattern = _runs() if _BEYOND_LATIN.search(text) else _PLAIN
    return (match.span() for match in pattern.finditer(text))


def language_of(*texts: str) -> str:
    """The language by which texts are stemmed together; English where none can be told."""
    return tell_language("\n".join(text[:_SAMPLE] for text in texts)).language or "en"


def text_terms(text: str, language: str) -> list[str]:
    """The terms of a text, in order and as often as they are there."""
    return [term for span in written(text) for term in _terms(text[slice(*span)], language)]


def term_counts(text: str, language: str) -> Counter[str]:
    """How often a text has each term; faster than to count `text_terms`."""
    counts: Counter[str] = Counter()
    for word, count in Counter(text[slice(*span)] for span in written(text)).items():
        for term in _terms(word, language):
            counts[term] += count
    return counts


def query_terms(words: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The terms of a query, each with all its forms, any of which is a match; different ones only.

    Args:
        words: Words and runs as they are written.
    """
    found: dict[str, frozenset[str]] = {}
    for word in words:
        if _is_run(word[0]):
            for term in _asked(word[:MOST_TERMS]):
                found.setdefault(term, frozenset((term,)))
        else:
            found.setdefault(fold(word)[:LONGEST], possible_stems(word[:LONGEST]))
        if len(found) >= MOST_TERMS:
            break
    return tuple(found.values())[:MOST_TERMS]


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
            yield from merged(_matching(text, span, wanted))
    elif not wanted.isdisjoint(stems(text[start : min(end, start + LONGEST)], language)):
        yield span


def _matching(text: str, span: Span, wanted: frozenset[str]) -> Iterator[Span]:
    """The longest wanted form at each place of a run."""
    for at in range(*span):
        for stop in (at + 2, at + 1):
            if fold(text[at : min(stop, span[1])]) in wanted:
                yield at, min(stop, span[1])
                break


def _terms(word: str, language: str) -> Iterable[str]:
    """Those of a word, or of a run without spaces."""
    return _grams(word) if _is_run(word[0]) else stems(word[:LONGEST], language)


def _grams(run: str) -> Iterator[str]:
    plain = fold(run)
    yield from plain
    yield from map(add, plain, plain[1:])


def _asked(run: str) -> Sequence[str]:
    plain = fold(run)
    return list(map(add, plain, plain[1:])) or [plain]


def _is_run(character: str) -> bool:
    if ord(character) < _FIRST_OF_A_RUN:
        return False
    found = _runs().match(character)
    return found is not None and found.lastgroup == "run"


@lru_cache(maxsize=1)
def _runs() -> "Pattern[str]":
    import regex  # loaded for the first text that is not Latin alone

    apart = rf"{SIGNS}{HALF_WIDTH_MARKS}{UNSPACED}\p{{Hangul}}"
    letters = r"\p{L}\p{N}\p{M}"
    return regex.compile(
        rf"(?V1)(?P<run>[[{apart}]&&[{letters}]][[{apart}\p{{M}}]&&[{letters}]]*+)"
        rf"|[[\p{{L}}\p{{N}}]--[{apart}]][[{letters}]--[{apart}]]*+"
    )
