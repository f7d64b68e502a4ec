"""BM25 over a handful of texts that are at hand anyway.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). Words are
compared without case and diacritics; unlike SQLite's index this one does not stem.
"""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")
_K1 = 1.2
_B = 0.75
_SNIPPET_WORDS = 16
_SNIPPET_CHARS = 300
MAX_WORDS = 64
"""Of a longer query the first words decide: each costs a pass over its matches."""


def query_words(query: str) -> tuple[str, ...]:
    """The different words of a query as they are written there, the first `MAX_WORDS`."""
    different = {word.group().casefold(): word.group() for word in _WORD.finditer(query)}
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
        wanted = None if words is None else set(map(fold, words))
        self._lengths: list[int] = []
        self._holders: dict[str, tuple[array[int], array[float]]] = {}
        """By each word, the numbers of the texts that have it, and how often, as it counts."""
        for number, fields in enumerate(texts):
            counts: dict[str, float] = {}
            length = 0
            for text, weight in fields:
                found = _WORD.findall(fold(text))
                length += len(found)
                counted = (
                    Counter(found).items()
                    if wanted is None
                    else [(word, found.count(word)) for word in wanted]
                )
                for word, count in counted:
                    counts[word] = counts.get(word, 0.0) + count * weight
            self._lengths.append(length)
            for word, count in counts.items():
                numbers, often = self._holders.setdefault(word, (array("I"), array("d")))
                if count:
                    numbers.append(number)
                    often.append(count)

    def rank(self, words: Sequence[str]) -> list[float]:
        """The score of each text for any of the words; 0 where none occurs."""
        scores = [0.0] * len(self._lengths)
        average = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        for word in dict.fromkeys(map(fold, words)):
            numbers, often = self._holders.get(word, (array("I"), array("d")))
            weight = _weight(len(numbers), len(scores))
            for number, count in zip(numbers, often, strict=True):
                scores[number] += weight * _share(count, self._lengths[number] / average)
        return scores


def _weight(holders: int, texts: int) -> float:
    # The `1 +` keeps the weight of a word that most texts contain above zero.
    return log(1 + (texts - holders + 0.5) / (holders + 0.5))


def _share(count: float, relative_length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative_length))


def snippet(words: Sequence[str], fields: Sequence[str]) -> str:
    """The surroundings of the first match, matches between `**`; empty without a match."""
    wanted = {fold(word) for word in words}
    for text in fields:
        matches = list(_WORD.finditer(text))
        first = next((i for i, m in enumerate(matches) if fold(m.group()) in wanted), None)
        if first is None:
            continue
        begin = max(0, first - _SNIPPET_WORDS // 4)
        shown = matches[begin : begin + _SNIPPET_WORDS]
        pieces: list[str] = []
        position = shown[0].start()
        for match in shown:
            marks = "**" if fold(match.group()) in wanted else ""
            pieces += [text[position : match.start()], marks, match.group(), marks]
            position = match.end()
        cut = ("…" if begin else "", "…" if begin + len(shown) < len(matches) else "")
        return shorten(cut[0] + "".join(pieces) + cut[1])
    return ""


def shorten(snippet: str) -> str:
    """A snippet in one line of bounded length, whatever the length of its words."""
    line = " ".join(snippet.split())
    return line if len(line) <= _SNIPPET_CHARS else line[: _SNIPPET_CHARS - 1] + "…"


def fold(text: str) -> str:
    """The text without case and diacritics."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", text.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))
