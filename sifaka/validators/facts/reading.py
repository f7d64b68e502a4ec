"""All facts of a text."""

import re
from dataclasses import dataclass
from functools import lru_cache

from sifaka.classifiers.language import LanguageClassifier
from sifaka.text import prose
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked
from sifaka.validators import verbatim
from sifaka.validators.facts.dates import dates, times
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.names import candidates
from sifaka.validators.facts.numbers import numbers, plain_digits

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_LIST_MARKER = re.compile(r"^[ \t>]*\d{1,3}[.)](?=[ \t])", re.MULTILINE)
_RULE = re.compile(r"^[ \t|]*:?-{2,}:?[-:| \t]*$", re.MULTILINE)
_FEWEST_WORDS = 2
SHORT, KEPT = 20_000, 64
"""Texts of up to so many characters are kept with what was read of them, so many at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The facts of a text, and what is compared besides."""

    text: str
    blank: str
    """The text without code and addresses, with ASCII digits; offsets stay."""
    language: str
    facts: tuple[Fact, ...]
    """In the order of their kinds, then of the text; names are read apart."""


def read(text: str, language: str = "") -> Reading:
    """The facts of a text but its names, for which `names_of` needs both texts.

    Every version of a run is compared with the same original: what was read of late is not read
    again.

    Args:
        text: The text.
        language: Its language where it is known; else it is told by the text.
    """
    return (_read_again if len(text) <= SHORT else _read)(text, language)


def _read(text: str, language: str) -> Reading:
    found: list[Fact] = []
    code = code_spans(text)
    for start, end in code:
        body = verbatim.code_body(text[start:end])
        if body:
            found.append(
                Fact(kind="code", shown=text[start:end], start=start, end=end, keys=((body,),))
            )
    rest = blanked(text, code)
    addresses = prose.urls(rest)
    for start, end in addresses:
        shown = rest[start:end]
        found.append(
            Fact(kind="url", shown=shown, start=start, end=end, keys=((shown.rstrip("/"),),))
        )
    rest = blanked(rest, addresses)
    mails = [m.span() for m in _EMAIL.finditer(rest)] if "@" in rest else []
    for start, end in mails:
        end = start + len(rest[start:end].rstrip("."))
        shown = rest[start:end]
        found.append(
            Fact(kind="email", shown=shown, start=start, end=end, keys=((shown.casefold(),),))
        )
    rest = blanked(rest, mails)
    for start, end, quote in verbatim.quotations(rest):
        key = verbatim.flat(quote).strip(" .,;:!?").casefold()
        if len(key.split()) >= _FEWEST_WORDS:
            found.append(Fact(kind="quote", shown=quote, start=start, end=end, keys=((key,),)))
    language = language or language_of(rest)
    rest = plain_digits(rest)
    rest = _LIST_MARKER.sub(lambda m: " " * len(m.group()), rest)
    rest = _RULE.sub(lambda m: " " * len(m.group()), rest)
    prose_text = rest
    for reader in (dates, times):
        more = list(reader(rest))
        found += more
        rest = blanked(rest, [(fact.start, fact.end) for fact in more])
    counted = list(numbers(rest, language))
    found += counted
    prose_text = blanked(prose_text, [(f.start, f.end) for f in counted if not f.coded])
    return Reading(text=text, blank=prose_text, language=language, facts=tuple(found))


def language_of(text: str) -> str:
    """The ISO 639-1 code of a text's language, or `unknown`."""
    return (_told_again if len(text) <= SHORT else _told)(text)


def _told(text: str) -> str:
    return LanguageClassifier(engine="own").classify(text).label


_read_again = lru_cache(maxsize=KEPT)(_read)
_told_again = lru_cache(maxsize=KEPT)(_told)
_candidates_again = lru_cache(maxsize=KEPT)(candidates)


def names_of(reading: Reading, also: frozenset[str] = frozenset()) -> tuple[Fact, ...]:
    """The names of a text; `also` are names by the evidence of another text."""
    find = _candidates_again if len(reading.blank) <= SHORT else candidates
    found = find(reading.blank, reading.language)
    named = (each.evident if each.first in also else each.name for each in found)
    return tuple(name for name in named if name is not None)
