"""Comparison of the names of a text with those of its rewrite."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from sifaka.text.scripts import script
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.names import COMMON
from sifaka.validators.facts.reading import KEPT, SHORT, Reading, names_of

_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W\d_]+)*")
_ALIKE = 4
"""Letters with which a name and a word from it begin, as in Italy and Italian."""

_CAPITAL = r"(?![IVXLC]+\b)[^\W\d_a-zà-öø-ÿ][^\W\d_]+"
_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herrn?|Frau|Mme|Monsieur|Madame|Sra?|Señora?|Signora?)\.?[ ]"
    rf"(?:(?:Dr|Prof)\.?[ ])?(?:{_CAPITAL}[ ])?({_CAPITAL})"
)
_PAIR = re.compile(rf"(?<![\w-])(?=({_CAPITAL})[ ]({_CAPITAL})(?![\w-]))")
_LOCAL = """
    new north south east west northern southern eastern western central main great upper lower
    mount lake saint san santa port cape king queen prince princess pope emperor president judge
    minister chancellor chairman speaker secretary mayor general captain sister brother father
    mother uncle aunt bank university college school institute academy museum theatre library
    church cathedral bridge tower station airport street square park garden hotel hospital court
    council committee union area programme program project act treaty agreement protocol accord
    prize award company group party office department ministry foundation association society
    river sea ocean island islands valley mountains forest desert beach falls city county
    province state states wall gate house palace castle festival week fair cup league games day
    days war peace conference congress summit germany france spain italy austria switzerland
    netherlands belgium poland russia ukraine sweden norway denmark finland greece turkey
    england scotland wales ireland britain europe africa asia america canada mexico brazil china
    japan korea india egypt israel hungary romania croatia portugal deutschland frankreich
    spanien italien österreich schweiz allemagne espagne italie europa doktor professor
    präsident präsidentin kanzler kanzlerin bundeskanzler bundeskanzlerin minister ministerin
    direktor director ober
"""
_TRANSLATED = frozenset(_LOCAL.split())
"""Words of names that have others in other languages."""


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

    @cached_property
    def _leads(self) -> Mapping[str, Sequence[str]]:
        """The words by how they begin."""
        found: dict[str, list[str]] = defaultdict(list)
        for word in self.words:
            if len(word) >= _ALIKE:
                found[word[:_ALIKE]].append(word)
        return found

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


def carried_names(text: str, translation: str) -> Iterator[tuple[str, str]]:
    """The names of people that a translation has not, each with the one in its place, if any.

    Between languages in Latin letters a name that follows a title, and the second of two names
    whose first one stays, is carried over. Places and institutions have names of their own in a
    language.
    """
    if {script(text)[0], script(translation)[0]} != {"latin"}:
        return
    leads = {_lead(word) for word in _WORD.findall(translation)}
    known = {_lead(word) for word in _WORD.findall(text)}
    pairs = defaultdict[str, list[str]](list)
    for first, second in _PAIR.findall(translation):
        pairs[first].append(second)
    for match in _TITLED.finditer(text):
        name = match[1].lower()
        if name not in _TRANSLATED | COMMON and _lead(name) not in leads:
            yield match.group(), ""
    for first, second in dict.fromkeys(_PAIR.findall(text)):
        given = {first.lower(), second.lower()}
        if given & (_TRANSLATED | COMMON) or _lead(second) in leads:
            continue
        others = (other for other in pairs[first] if _lead(other) not in known)
        if other := next(others, None):
            yield f"{first} {second}", f"{first} {other}"


def _lead(word: str) -> str:
    """The letters by which a name is told, whatever its ending: `Novak` and `Nováka`."""
    plain = unicodedata.normalize("NFKD", word.lower().replace("ł", "l").replace("ø", "o"))
    return "".join(c for c in plain if not unicodedata.combining(c))[:_ALIKE]
