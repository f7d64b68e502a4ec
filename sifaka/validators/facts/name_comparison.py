"""Comparison of the names of a text with those of its rewrite."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import KEPT, SHORT, Reading, names_of

_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W\d_]+)*")
_ALIKE = 4
"""Letters with which a name and a word from it begin, as in Italy and Italian."""


class Named(NamedTuple):
    """The names of two texts."""

    old: tuple[Fact, ...]
    new: tuple[Fact, ...]
    lost: list[Fact]
    """Those of the first that the second has not."""
    invented: list[Fact]
    """Those of the second that neither the first nor the task has."""


def compare_names(before: Reading, after: Reading, task: str) -> Named:
    """The names of both texts, those that are lost, and those that are new."""
    old = names_of(before, _words(names_of(after)))
    new = names_of(after, _words(old))
    in_new, in_old, asked = map(_vocabulary, (after.text, before.text, task))
    invented = [f for f in new if not f.weak and not _known(f, in_old, asked)]
    lost = [f for f in old if not f.weak and not _kept(f, in_new, bool(invented))]
    return Named(old, new, _once(lost), _once(invented))


def _words(found: Iterable[Fact]) -> frozenset[str]:
    return frozenset(
        word for fact in found if not fact.weak for word in fact.keys[0] if isinstance(word, str)
    )


class _Vocabulary:
    """The words of a text, for looking up names."""

    def __init__(self, text: str) -> None:
        found = {word.lower() for word in _WORD.findall(text)}
        for word in list(found):
            if not word.isalnum():
                found |= {re.sub(r"['’]s?$", "", word), *re.split(r"[-’']", word)}
        self.words = found | {w[:-1] for w in found if w.endswith("s") and len(w) > _ALIKE}
        self._leads: dict[str, list[str]] = defaultdict(list)
        for word in self.words:
            if len(word) >= _ALIKE:
                self._leads[word[:_ALIKE]].append(word)

    def has(self, word: str) -> bool:
        """True when the word stands there, in the plural or in parts too."""
        if word in self.words or word.rstrip("s") in self.words or f"{word}s" in self.words:
            return True
        return "-" in word and all(part in self.words for part in word.split("-"))

    def derived(self, word: str) -> bool:
        """True when a word from the same stem does, as Italian for Italy."""
        if len(word) < _ALIKE:
            return False
        return any(
            _derived(other, word) for other in self._leads.get(word[:_ALIKE], ()) if other != word
        )


def _vocabulary(text: str) -> _Vocabulary:
    return _kept_vocabulary(text) if len(text) <= SHORT else _Vocabulary(text)


_kept_vocabulary = lru_cache(maxsize=KEPT)(_Vocabulary)


def _kept(name: Fact, words: _Vocabulary, fresh: bool) -> bool:
    parts = [str(part) for part in name.keys[0]]
    if not parts or words.has(parts[-1]) or words.derived(parts[-1]):
        return True
    return not fresh and any(words.has(part) for part in parts)


def _known(name: Fact, words: _Vocabulary, asked: _Vocabulary) -> bool:
    return all(
        words.has(part) or asked.has(part) or words.derived(part) for part in map(str, name.keys[0])
    )


def _derived(one: str, other: str) -> bool:
    """True for Italy and Italian, not for Brandt and Brander: the shorter leads the longer."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short[: max(_ALIKE, len(short) - 1)]) and len(long) - len(short) >= 1


def _once(found: Iterable[Fact]) -> list[Fact]:
    return list({fact.keys[0]: fact for fact in found}.values())
