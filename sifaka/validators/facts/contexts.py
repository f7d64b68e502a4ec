"""Facts that changed places: each is still there, but now said of something else."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import Reading
from sifaka.validators.facts.vocabulary import stem_of

_WORD = re.compile(r"[^\W_]+|[;:,|\n]")
_REACH = 8
"""Words on each side of a fact that are its context."""
_PHRASES = 3
"""Words of the longest phrase that tells one place from all others."""
_NEIGHBOURS = 6
"""Facts after one that it may have changed places with."""
_FARTHEST, _BREAK = 30.0, 4.0
_TIMES = 3
"""Words that speak for a move for each that speaks against it."""
_APART = "and und et y e while whereas but or ,"
_FAR = dict.fromkeys(_APART.split(), 3.0) | {"|": 0.5, ";": 5.0, "\n": 5.0}
"""The distance of words that separate; that of others is 1."""
_TOWARDS = "from to until till between von auf bis vom zum de à desde hasta da"
_DIRECTIONS = frozenset(_TOWARDS.split())
"""Words before a fact that say which end it is."""
_RATIO = 1.35
_TAKEN_OVER = 0.7
_PASSIVE = re.compile(
    r"\b(?:by|von|vom|durch|par|por|da|dal|was|were|been|wurde|wurden|been|fue|fueron|été)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\b(?:and|but|while|und|et|y|e|or|whereas)\b|[;,:|\n]", re.IGNORECASE)
_CLASSES: tuple[tuple[str, ...], ...] = (
    ("number", "date", "time"),
    ("name",),
    ("code", "url", "email"),
)

Profile = Mapping[str, float]
Phrase = tuple[object, ...]


class Places:
    """The facts of two texts with the words around each.

    Args:
        before: The original.
        after: The rewrite.
        old: Its facts, names too.
        new: The facts of the rewrite, names too.
    """

    def __init__(
        self, before: Reading, after: Reading, old: Sequence[Fact], new: Sequence[Fact]
    ) -> None:
        self._before, self._after = _Text(before, old), _Text(after, new)
        self._old, self._new = old, new

    def moved(self) -> Iterator[tuple[Fact, Fact]]:
        """The pairs of facts that have changed places.

        Only facts that each text has once are compared.
        """
        for kinds in _CLASSES:
            pairs = self._pairs(kinds)
            if len(pairs) > 1:
                yield from self._moved(pairs)

    def _pairs(self, kinds: Sequence[str]) -> Sequence[tuple[Fact, Fact]]:
        shared = _shared(_of(kinds, self._old), _of(kinds, self._new))
        return sorted(shared, key=lambda pair: pair[0].start)

    def _moved(self, pairs: Sequence[tuple[Fact, Fact]]) -> Iterator[tuple[Fact, Fact]]:
        old, new = self._before, self._after

        @cache
        def near(n: int) -> tuple[Profile, Profile]:
            return old.distances(pairs[n][0]), new.distances(pairs[n][1])

        told: set[int] = set()
        for n in range(len(pairs)):
            for m in range(n + 1, min(n + 1 + _NEIGHBOURS, len(pairs))):
                a, b = pairs[n][0], pairs[m][0]
                if n in told or m in told or not _alike(a, b):
                    continue
                turned = a.kind == "name" and _turned(old, new, pairs[n], pairs[m])
                if turned or _crossed(near(n), near(m)):
                    told |= {n, m}
                    yield a, b

    def replaced(
        self, lost: Sequence[Fact], invented: Sequence[Fact]
    ) -> Iterator[tuple[Fact, Fact]]:
        """The lost facts in whose phrase a new fact of the same kind stands now."""
        for kinds in _CLASSES:
            gone, come = list(_of(kinds, lost)), list(_of(kinds, invented))
            if not (gone and come):
                continue
            one = _only(self._before.phrases(fact) for fact in gone)
            other = _only(self._after.phrases(fact) for fact in come)
            done: set[int] = set()
            for phrase, n in one.items():
                m = other.get(phrase)
                if n is not None and m is not None and n not in done and _alike(gone[n], come[m]):
                    done.add(n)
                    yield gone[n], come[m]

    def taken_over(self, lost: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
        """The lost facts in whose place a fact stands that the original has elsewhere."""
        for kinds in _CLASSES:
            gone = list(_of(kinds, lost))
            if not gone:
                continue
            pairs = self._pairs(kinds)
            starts = [old.start for old, _ in pairs]
            for fact in gone:
                theirs = self._before.profile(fact)
                at = bisect_left(starts, fact.start)
                for old, new in pairs[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]:
                    if not _alike(fact, old):
                        continue
                    now = self._after.profile(new)
                    own = _similarity(self._before.profile(old), now)
                    there = _similarity(theirs, now)
                    if there > own * _RATIO + _TAKEN_OVER:
                        yield fact, old
                        break


def _of(kinds: Sequence[str], facts: Iterable[Fact]) -> Iterator[Fact]:
    return (fact for fact in facts if fact.kind in kinds)


def _only(phrases: Iterable[Iterable[Phrase]]) -> dict[Phrase, int | None]:
    """By phrase, the number of the only fact in it; None where there are several."""
    found: dict[Phrase, int | None] = {}
    for n, each in enumerate(phrases):
        for phrase in each:
            found[phrase] = None if phrase in found else n
    return found


def _alike(a: Fact, b: Fact) -> bool:
    return a.kind == b.kind and a.unit == b.unit


def _shared(old: Iterable[Fact], new: Iterable[Fact]) -> Iterator[tuple[Fact, Fact]]:
    one, other = _unique(old), _unique(new)
    for key, fact in one.items():
        if fact is not None and (twin := other.get(key)) is not None:
            yield fact, twin


def _unique(facts: Iterable[Fact]) -> dict[tuple[object, ...], Fact | None]:
    found: dict[tuple[object, ...], Fact | None] = {}
    for fact in facts:
        if not fact.keys or not fact.keys[0]:
            continue
        last = fact.keys[0][-1] if fact.kind == "name" else fact.value
        key = (fact.kind, fact.keys[0] if last is None else last)
        found[key] = None if key in found else fact
    return found


class _Text:
    """The words of a text with its facts among them."""

    def __init__(self, reading: Reading, facts: Sequence[Fact]) -> None:
        self.text = reading.text
        self._given = facts

    @cached_property
    def words(self) -> Sequence[tuple[int, str]]:
        return [(m.start(), m.group()) for m in _WORD.finditer(self.text)]

    @cached_property
    def starts(self) -> Sequence[int]:
        return [start for start, _ in self.words]

    @cached_property
    def ends(self) -> Sequence[int]:
        return sorted({end for _, end in sentence_spans(self.text)})

    @cached_property
    def names(self) -> Sequence[int]:
        return sorted(fact.start for fact in self._given if fact.kind == "name")

    @cached_property
    def _facts(self) -> Mapping[tuple[str, str], list[tuple[int, int]]]:
        found: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for fact in sorted(self._given, key=lambda fact: fact.start):
            found[fact.kind, fact.unit].append((fact.start, fact.end))
        return found

    def _around(self, fact: Fact, step: int) -> Iterator[tuple[float, str]]:
        """The stems on one side of a fact, each with its distance."""
        place = bisect_left(self.starts, fact.start if step < 0 else fact.end)
        at = place - 1 if step < 0 else place
        distance = 0.0
        sentence = self._sentence(fact.start)
        for _ in range(_REACH):
            if not 0 <= at < len(self.words):
                return
            start, word = self.words[at]
            at += step
            if (here := self._sentence(start)) != sentence:
                distance, sentence = distance + _BREAK, here
            lower = word.lower()
            distance += _FAR.get(lower, 1.0)
            if self._is_like(fact, start):
                continue  # it may have moved itself
            if distance == 1 and step < 0 and lower in _DIRECTIONS:
                yield distance, f" {lower}"
            elif stem := stem_of(word):
                yield distance, stem

    def distances(self, fact: Fact) -> Profile:
        """The words around a fact with their distances."""
        found: dict[str, float] = {}
        for step in (-1, 1):
            for distance, stem in self._around(fact, step):
                if distance < found.get(stem, _FARTHEST):
                    found[stem] = distance
        return found

    def profile(self, fact: Fact) -> Profile:
        """The words around a fact, each with the weight of its nearness."""
        return {stem: 1 / (1 + distance) for stem, distance in self.distances(fact).items()}

    def phrases(self, fact: Fact) -> Iterator[Phrase]:
        """The phrases that a fact begins or ends, of one word and more."""
        for step in (-1, 1):
            stems: list[str] = []
            for distance, stem in self._around(fact, step):
                if distance > _REACH:
                    break
                stems.append(stem)
                yield (step, *stems)
                if len(stems) == _PHRASES:
                    break

    def _is_like(self, fact: Fact, at: int) -> bool:
        spans = self._facts[fact.kind, fact.unit]
        n = bisect_left(spans, (at + 1, 0)) - 1
        return n >= 0 and at < spans[n][1]

    def _sentence(self, at: int) -> int:
        """The number of the sentence at a place."""
        return bisect_left(self.ends, at + 1)

    def sentence(self, fact: Fact) -> tuple[int, int]:
        """The place of the sentence that a fact stands in."""
        n = self._sentence(fact.start)
        end = self.ends[n] if n < len(self.ends) else len(self.text)
        return (self.ends[n - 1] if n else 0), end


def _crossed(a: tuple[Profile, Profile], b: tuple[Profile, Profile]) -> bool:
    """True when words that were nearer to each fact are now nearer to the other."""
    there = back = straight = 0
    for word in (a[0].keys() | b[0].keys()) & (a[1].keys() | b[1].keys()):
        before, after = (_nearer(a[n], b[n], word) for n in (0, 1))
        if before * after > 0:
            straight += 1
        elif before * after < 0:
            there, back = there + (before < 0), back + (before > 0)
    return bool(there and back) and there + back >= _TIMES * straight


def _nearer(a: Profile, b: Profile, word: str) -> int:
    """-1 when a word is nearer to the first of two facts, 1 when to the second, else 0."""
    one, other = a.get(word, _FARTHEST), b.get(word, _FARTHEST)
    return 0 if abs(one - other) < 1 else -1 if one < other else 1


def _similarity(one: Profile, other: Profile) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(min(weight, other[word]) for word, weight in one.items() if word in other)


def _turned(old: _Text, new: _Text, a: tuple[Fact, Fact], b: tuple[Fact, Fact]) -> bool:
    """True when the only two names of a sentence have changed their order, both in the active."""
    first, second = old.sentence(a[0]), new.sentence(a[1])
    if old.sentence(b[0]) != first or new.sentence(b[1]) != second:
        return False
    if (a[1].start < b[1].start) == (a[0].start < b[0].start):
        return False
    for text, span, one, two in ((old, first, a[0], b[0]), (new, second, a[1], b[1])):
        begin, end = sorted((one, two), key=lambda fact: fact.start)
        between = text.text[begin.end : end.start]
        if _PASSIVE.search(text.text, *span) or _JOINED.search(between) or not between.strip():
            return False
        if bisect_left(text.names, span[1]) - bisect_left(text.names, span[0]) > 3:
            return False
    return True
