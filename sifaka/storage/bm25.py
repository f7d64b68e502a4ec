"""BM25 over texts that are at hand anyway.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). Its terms are
those of `sifaka.text.terms`, by which every store finds texts: stems, without case and diacritics.
"""

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from math import log

from sifaka.text.prose import Span
from sifaka.text.terms import language_of, parts, places, query_terms, term_counts, written

_K1 = 1.2
_B = 0.75
_SNIPPET_WORDS = 16
_SNIPPET_CHARS = 300
MAX_WORDS = 64
"""Of a longer query the first words decide: each costs a pass over its matches."""


def query_words(query: str) -> tuple[str, ...]:
    """The different words of a query as they are written there, the first `MAX_WORDS`."""
    different: dict[str, str] = {}
    for start, end in written(query):
        different[query[start:end].casefold()] = query[start:end]
        if len(different) > MAX_WORDS:
            break
    return tuple(different.values())[:MAX_WORDS]


def rank(words: Sequence[str], texts: Sequence[Sequence[tuple[str, float]]]) -> list[float]:
    """The score of each text for any of the words; 0 where none occurs.

    Args:
        words: From `query_words`.
        texts: Each text as its fields with their weights.
    """
    return WordIndex(texts, words).rank(words)


class WordIndex:
    """Texts whose words were counted once, for many searches.

    Args:
        texts: Each text as its fields with their weights.
        words: The words to count; None for all.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[tuple[str, float]]],
        words: Sequence[str] | None = None,
    ) -> None:
        wanted = None if words is None else frozenset[str]().union(*query_terms(words))
        self._lengths: list[int] = []
        self._holders: dict[str, tuple[array[int], array[float]]] = {}
        """By each term, the numbers of the texts that have it, and how often, as it counts."""
        for number, fields in enumerate(texts):
            counts: dict[str, float] = {}
            length = 0
            language = language_of(*(text for text, _ in fields))
            for text, weight in fields:
                found = term_counts(text, language)
                length += found.total()
                for term, count in found.items():
                    if wanted is None or term in wanted:
                        counts[term] = counts.get(term, 0.0) + count * weight
            self._lengths.append(length)
            for term, count in counts.items():
                numbers, often = self._holders.setdefault(term, (array("I"), array("d")))
                numbers.append(number)
                often.append(count)

    def rank(self, words: Sequence[str]) -> list[float]:
        """The score of each text for any of the words; 0 where none occurs."""
        scores = [0.0] * len(self._lengths)
        average = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        for forms in query_terms(words):
            held: dict[int, float] = {}
            for form in forms:
                # A text has a word in the forms of its own language, which are counted once.
                numbers, often = self._holders.get(form, ((), ()))
                for number, count in zip(numbers, often, strict=True):
                    held[number] = max(held.get(number, 0.0), count)
            weight = _weight(len(held), len(scores))
            for number, count in held.items():
                scores[number] += weight * _share(count, self._lengths[number] / average)
        return scores


def _weight(holders: int, texts: int) -> float:
    # The `1 +` keeps the weight of a word that most texts contain above zero.
    return log(1 + (texts - holders + 0.5) / (holders + 0.5))


def _share(count: float, relative_length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative_length))


def snippet(words: Sequence[str], fields: Sequence[str]) -> str:
    """The surroundings of the first match, matches between `**`; empty without a match."""
    wanted = frozenset[str]().union(*query_terms(words))
    language = language_of(*fields) if wanted else ""
    for text in fields:
        spans = written(text)
        before: deque[Span] = deque(maxlen=_SNIPPET_WORDS // 4)
        begins = None
        for span in spans:
            begins = span[0] if begins is None else begins
            first = next(places(text, span, wanted, language), None)
            if first is None:
                before.extend(parts(text, span))
                continue
            before.extend(part for part in parts(text, span) if part[1] <= first[0])
            rest = (part for part in parts(text, span) if part[1] > first[0])
            further = chain(rest, chain.from_iterable(parts(text, each) for each in spans))
            shown = [*before, *islice(further, _SNIPPET_WORDS - len(before))]
            begin, end = shown[0][0], shown[-1][1]
            cut = "…" if begin > begins else ""
            if next(further, None):
                return shorten(f"{cut}{_marked(text[begin:end], wanted, language)}…")
            return shorten(cut + _marked(text[begin:], wanted, language))
    return ""


def _marked(window: str, wanted: frozenset[str], language: str) -> str:
    pieces: list[str] = []
    at = 0
    for span in written(window):
        for start, stop in places(window, span, wanted, language):
            pieces += [window[at:start], "**", window[start:stop], "**"]
            at = stop
    return "".join((*pieces, window[at:]))


def shorten(snippet: str) -> str:
    """A snippet in one line of bounded length, whatever the length of its words."""
    line = " ".join(snippet.split())
    return line if len(line) <= _SNIPPET_CHARS else line[: _SNIPPET_CHARS - 1] + "…"
