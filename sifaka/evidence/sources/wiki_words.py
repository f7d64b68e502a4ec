"""A question in the words that the search of a wiki is asked with."""

from collections.abc import Container, Iterable, Mapping, Sequence
from math import log

import regex

MOST_WORDS = 12
"""Of the first search."""
MOST_ALONE = 6
"""Words that are searched for one by one."""
_LONGEST_WORD = 40
_LEAST_SHARE = 1 / 3
"""Of the best page's score, below which a page has too little of the question."""
_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
_COMMON = frozenset(
    regex.findall(
        r"\S+",
        """a about after all also an and any are as at be been before being between both but by can
        could did do does during each for from had has have he her his how i if in into is it its
        many may more most much no not of on one only or other our over she so some such than that
        the their them then there these they this those to under until up was we were what when
        where whether which while who whom whose why will with would you your""",
    )
)
"""Words of English that no page is found by; those of other languages cost a search more."""


def words_of(question: str) -> tuple[str, ...]:
    """The words to search for, in their order, each once, without what a search engine obeys.

    Returns:
        At most `MOST_WORDS`, the most telling ones; all of them when they are common words.
    """
    found: dict[str, str] = {}
    for match in _WORD.finditer(question):
        word = match.group()[:_LONGEST_WORD]
        # The `s` of a genitive is no word of its own; a figure is.
        if len(word) > 1 or word.isdecimal() or ord(word) > 0x2E7F:
            found.setdefault(word.casefold(), word.lower() if word in _OPERATORS else word)
    telling = {key: word for key, word in found.items() if key not in _COMMON} or found
    chosen = set(sorted(telling, key=lambda key: _weight(telling[key]))[:MOST_WORDS])
    return tuple(word for key, word in telling.items() if key in chosen)


def named(title: str, question: str) -> int:
    """How many words of a title a question has, if it has every one of them; 0 otherwise."""
    wanted = {match.group().casefold() for match in _WORD.finditer(title)}
    there = {match.group().casefold() for match in _WORD.finditer(question)}
    return len(wanted) if wanted <= there else 0


def most_telling(words: Sequence[str], most: int = MOST_ALONE) -> tuple[str, ...]:
    """Names, figures and long words first."""
    return tuple(sorted(words, key=_weight)[:most])


def rarest(hits: Mapping[str, int], most: int = 3) -> tuple[str, ...]:
    """The words that the fewest pages have, but that some have, in their order."""
    known = [word for word, count in hits.items() if count > 0]
    chosen = set(sorted(known, key=lambda word: hits[word])[:most])
    return tuple(word for word in known if word in chosen)


def by_words(
    pages: Mapping[str, Iterable[int]], hits: Mapping[str, int], always: Container[int] = ()
) -> list[int]:
    """Pages that have the rarest and the most of the words first, without those that have few.

    Args:
        pages: The pages that have each word.
        hits: How many pages have each word, of which `pages` may name some.
        always: Pages that are not left out, however few they have.
    """
    most = max(hits.values(), default=0)
    scores: dict[int, float] = {}
    for word, found in pages.items():
        for page in found:
            scores[page] = scores.get(page, 0.0) + log(1 + most / max(1, hits[word]))
    best = max(scores.values(), default=0.0)
    kept = [
        page for page, score in scores.items() if score >= best * _LEAST_SHARE or page in always
    ]
    return sorted(kept, key=lambda page: -scores[page])


def _weight(word: str) -> tuple[bool, int]:
    is_telling = word[0].isupper() or word.isdecimal()
    return not is_telling, -len(word)
