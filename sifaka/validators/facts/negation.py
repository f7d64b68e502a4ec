"""Negations: a sentence that says what the original denies, in otherwise the same words."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.vocabulary import stem_of

_NEGATION = re.compile(
    r"\b(?=[acgjknpr])(?:not|never|no|none|nobody|nothing|nowhere|neither|nor|cannot|no[ ]one"
    r"|nicht|nichts|nie|niemals|kein\w{0,2}|niemand"
    r"|ne|jamais|aucune?|personne|rien|ni|pas|nunca|jamás|nadie|nada|ningun[ao]|ningún|não|nem"
    r"|non|nessun[ao]?|niet|geen|nooit)\b|n['’]t\b|\bn['’](?=\w)",
    re.IGNORECASE,
)
"""Words that deny, of the languages whose numbers in words are read; `no` in Spanish is one."""
_HAN = re.compile(r"[不没沒未无無]|ません|ない")
_ASIDE = re.compile(
    r"\A\W*(?:no|nein|non|yes|sure|sorry|of[ ]course|ja|oui|sí|si)\b[,.!]", re.IGNORECASE
)
"""The word that opens an answer."""
_HARMLESS = re.compile(
    r"\bor[ ]not\b|\bwhy[ ](?:not|don['’]t)\b"
    r"|\b(?:no|not)[ ](?:more|less|fewer|later|earlier|sooner)[ ]than\b|\bno\.?[ ]?(?=\d)"
    r"|\b(?:nothing|none|nobody|no[ ]one)[ ](?:but|other[ ]than|except)\b"
    r"|\bn(?:ot|icht)[ ](?:only|just|nur|bloß)\b|\bno[ ]s[oó]lo\b|\bnon[ ]s(?:eulement|olo)\b"
    r"|\bpas[ ]seulement\b|\bne\b(?=[ ](?:\w+[ ]){1,3}que\b)|\bniet[ ]alleen\b|\bnão[ ]só\b",
    re.IGNORECASE,
)
"""Negations that deny nothing, or not the sentence; they count as no words of it."""
_DIGIT = re.compile(r"\d")
_OPPOSITE = re.compile(
    r"negat|opposite|contrary|positiv|affirmativ|contradict|invert|revers|gegenteil|verneint",
    re.IGNORECASE,
)
"""Tasks that may turn a sentence over."""
_WORD = re.compile(r"[^\W_]+")
_HAN_LETTERS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_AUXILIARIES = """
    can could will would shall should may might must ca wo do does did is are was were be been has
    have had am ain isn wasn aren weren don doesn didn won wouldn couldn shouldn mustn hasn haven
    hadn the a an re ll ve d m s t
"""
_AUXILIARY = frozenset(_AUXILIARIES.split())
_FEWEST = 3
"""Words of a sentence that is compared, those that carry nothing among them."""

_SHORT = 1_000
"""Characters of a sentence up to which its meaning is kept."""
_MOST = 30
"""Words of a sentence up to which another spelling of one is looked for, and of those compared."""


class Turned(NamedTuple):
    """A sentence of a text, and the one of its rewrite that denies it."""

    before: str
    after: str
    start: int
    end: int
    """Its place in the rewrite."""


def turned_over(original: str, text: str, task: str) -> Iterator[Turned]:
    """The sentences that stand in both texts with the same words, in one of them denied.

    Only what carries meaning is compared, in any order; a sentence that stands there both ways, a
    question, and one whose words differ is not told.
    """
    if _OPPOSITE.search(task):
        return
    known = _Sentences()
    for key, denied, start, end in _sentences(original):
        known.add(key, denied, original[start:end].strip())
    for key, denied, start, end in _sentences(text):
        other = known.opposed(key, denied)
        if other is not None:
            yield Turned(other, text[start:end].strip(), start, end)


class _Sentences:
    """The sentences of a text by the words that carry them."""

    def __init__(self) -> None:
        self._ways: dict[frozenset[str], dict[bool, str]] = defaultdict(dict)
        self._without: dict[int, list[tuple[str, frozenset[str]]]] = defaultdict(list)
        """The words, and those of their sentences, by the sum of the hashes of the others."""

    def add(self, key: frozenset[str], denied: bool, sentence: str) -> None:
        if key not in self._ways and _FEWEST <= len(key) <= _MOST:
            total = sum(map(hash, key))
            for word in key:
                others = self._without[total - hash(word)]
                if len(others) < _MOST:  # in a list of names each is the others' neighbour
                    others.append((word, key))
        self._ways[key].setdefault(denied, sentence)

    def opposed(self, key: frozenset[str], denied: bool) -> str | None:
        """The sentence with the same words that is denied where this one is not, or is not."""
        for known in (key, *self._nearly(key)):
            if ways := self._ways.get(known):
                return None if denied in ways else ways[not denied]
        return None

    def _nearly(self, key: frozenset[str]) -> Iterator[frozenset[str]]:
        """The words of sentences in which one is spelt a little differently, as `rang`."""
        from rapidfuzz.distance import OSA

        total = sum(map(hash, key))
        for word in key if len(key) <= _MOST else ():
            for other, known in self._without.get(total - hash(word), ()):
                alike = min(len(word), len(other)) > _FEWEST and OSA.distance(word, other) == 1
                if alike and known - {other} == key - {word}:
                    yield known


def _sentences(text: str) -> Iterator[tuple[frozenset[str], bool, int, int]]:
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        key, denied = (_kept_meaning if len(sentence) <= _SHORT else _meaning)(sentence)
        if key:
            yield key, denied, start, end


def _meaning(sentence: str) -> tuple[frozenset[str], bool]:
    """The words that carry a statement, by their stems, and True when it denies; else none."""
    if sentence.rstrip(" \n\"'”’").endswith(("?", "？")):
        return frozenset(), False
    plain = _ASIDE.sub(" ", sentence)
    if _NEGATION.search(plain) or _DIGIT.search(plain):  # else nothing harmless is there either
        plain = _HARMLESS.sub(" ", plain)
    key, denied = _carried(plain)
    if len(key) < 2 and len(_WORD.findall(sentence)) < _FEWEST:
        return frozenset(), False
    return key, denied


_kept_meaning = lru_cache(maxsize=500)(_meaning)
"""Most sentences of a text stand in its versions too."""


def _carried(sentence: str) -> tuple[frozenset[str], bool]:
    if _HAN_LETTERS.search(sentence):
        plain = _HAN.sub("", sentence)
        letters = frozenset(c for c in plain if unicodedata.category(c) in {"Lo", "Nd"})
        return letters - frozenset("ますでる"), plain != sentence
    plain = _NEGATION.sub(" ", sentence)
    words = (word.lower() for word in _WORD.findall(plain))
    stems = (word if word.isdigit() else stem_of(word) for word in words if word not in _AUXILIARY)
    return frozenset(filter(None, stems)), plain != sentence
