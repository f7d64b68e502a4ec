"""Names: capitalised words inside sentences, what follows a title, acronyms and CamelCase."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from string import ascii_lowercase
from typing import NamedTuple

from sifaka.text.function_words import FUNCTION_WORDS
from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.units import unit_of
from sifaka.validators.facts.vocabulary import MONTHS, WEEKDAYS

_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame|Lady|Lord|Captain|President|Judge|Sister|St"
    r"|Herr|Herrn"
    r"|Frau|Mme|Mlle|Monsieur|Madame|Doktor|[Dd]oña|[Dd]on|Señor|Señora|Signor|Signora)"
)
_TITLES = re.compile(_TITLE + r"\.?")
_UPPER = "[A-ZÀ-ÖØ-ÞŁŚŻŠČŽĐ]"
_LETTER = re.compile(_UPPER)
_CAPITAL = rf"{_UPPER}[^\W_]*(?:[-’'](?!s\b)[^\W\d_]+)*|(?<![a-z])[a-z]+[A-Z][^\W_]*"
_SEQUENCE = re.compile(
    rf"(?<![\w@#/.\\-])(?:{_CAPITAL})(?:['’]s)?(?:(?:(?<=\b[A-Z])\.[ ]?|(?<=\bDr|\bMr|\bMs"
    rf"|\bSt)\.[ ]|(?<=\bMrs)\.[ ]|(?<=\bProf)\.[ ]|[ ])(?:{_CAPITAL})(?:['’]s)?"
    rf"|[ ](?:of|de|van|von|der|da|bin|al)[ ](?={_CAPITAL}))*"
)
_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W\d_]+)*")
_SINGLE = re.compile(_CAPITAL)
_POSSESSIVE = re.compile(r"['’]s$")
_OF = re.compile(r"['’]s?$")
_I = re.compile(r"I['’]")
_ROMAN = re.compile(r"[IVXLC]+")
_LOWER = re.compile(r"\b[a-zà-öø-þ]{3,}\b")
_OPENING = '"“‘«„(*_#>-•|:…'
_COMMON = """
    i ok the a an this that these those it he she we you they there here what when where who why
    how if in on at by for from to of with without and or but so as no yes not our your their
    his her its my all any some each every both dear hello hi hey kind regards best sincerely
    yours thanks thank please note step steps item name price total page section chapter part
    table figure note tip redacted placeholder person email phone sir madam customer team today
    tomorrow yesterday soon internet ai mr mrs ms miss dr prof professor tv faq ceo asap pdf id
    url api html json q a january herr frau
"""
COMMON = frozenset(_COMMON.split()) | frozenset(
    w for code in ("en", "de", "fr", "es", "it") for w in FUNCTION_WORDS[code].split()
)


class Candidate(NamedTuple):
    """A sequence of capitalised words."""

    first: str
    """The first word in lower case."""
    name: Fact | None
    """The name by the evidence of the text; None where it is none."""
    evident: Fact | None
    """The same where another text tells that the first word is a name."""


def candidates(text: str, language: str) -> tuple[Candidate, ...]:
    """What may be a name in a text, each sequence of words as one.

    A capitalised word that opens a sentence is one only with evidence: a second name after it, or
    the same word elsewhere in the middle of a sentence.

    Args:
        text: The text, code and addresses blanked.
        language: Its ISO 639-1 code. German capitalises every noun, so there only what follows a
            title, acronyms and two names in a row count.
    """
    return tuple(_Capitals(text, language).candidates())


class _Capitals:
    """The capitalised words of a text."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._language = text, language
        self._starts = frozenset(start for start, _ in sentence_spans(text))
        self._headings = _headings(text)

    @cached_property
    def _lower_words(self) -> frozenset[str]:
        return frozenset(_LOWER.findall(self._text))

    def candidates(self) -> Iterator[Candidate]:
        text = self._text
        inside = frozenset(self._inside())
        for match in _at_capitals(_SEQUENCE, text):
            if _within(match.start(), self._headings):
                continue
            tokens = list(_WORD.finditer(text, match.start(), match.end()))
            opening = match.start() in self._starts or _opens(text, match.start())
            first = _POSSESSIVE.sub("", tokens[0].group()).lower()
            name = self._name(tokens, opening and first not in inside, opening)
            evident = self._name(tokens, False, opening) if opening else name
            yield Candidate(first, name, evident)

    def _name(self, tokens: list[re.Match[str]], unsure: bool, opening: bool) -> Fact | None:
        """The name in a sequence of words.

        Args:
            tokens: The words.
            unsure: True when the first has its capital maybe only because it opens a sentence.
            opening: True when it opens a sentence.
        """
        text, language = self._text, self._language
        titled = weak = False
        kept: list[re.Match[str]] = []
        for n, token in enumerate(tokens):
            word = token.group()
            bare = _POSSESSIVE.sub("", word)
            lower = bare.lower()
            if _I.match(word):
                if kept:
                    break
                continue
            if _TITLES.fullmatch(bare):
                titled = True
                if kept:
                    break
                continue
            if lower in {"of", "van", "von", "der", "da", "bin", "al", "de"} and kept:
                continue
            known = (
                lower in MONTHS or lower in WEEKDAYS or lower in COMMON or unit_of(bare) is not None
            )
            if (known or _is_roman(bare)) and not (titled and not kept):
                if kept:
                    break
                continue
            if n == 0 and unsure and not titled and not _odd(bare):
                following = tokens[1].group() if len(tokens) > 1 else ""
                if (
                    not following[:1].isupper()
                    or following.lower() in COMMON
                    or language == "de"
                    or not _personal(bare, self._lower_words)
                ):
                    if len(tokens) > 1 or len(bare) < 3:
                        continue
                    weak = True
            kept.append(token)
        if not kept or (opening and text[kept[-1].end() : kept[-1].end() + 1] == ":"):
            return None  # a label
        first = kept[0].group()
        if language == "de" and not titled and not _odd(first) and not _german(kept, text):
            return None
        parts = tuple(
            _OF.sub("", t.group()).lower()
            for t in kept
            if t.group()[0].isupper() or _odd(t.group())
        )
        start, end = kept[0].start(), kept[-1].end()
        shown = _POSSESSIVE.sub("", text[start:end])
        return Fact(kind="name", shown=shown, start=start, end=end, keys=(parts,), weak=weak)

    def _inside(self) -> Iterator[str]:
        """The words that are capitalised in the middle of a sentence, in lower case."""
        if self._language == "de":
            return
        text = self._text
        for match in _at_capitals(_SINGLE, text):
            start, lower = match.start(), match.group().lower()
            if lower in COMMON or start in self._starts or text[start - 1 : start].isalnum():
                continue
            if not (_opens(text, start) or _within(start, self._headings)):
                yield lower


def _at_capitals(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What `pattern.finditer` finds; the text is looked at only where it has capitals."""
    end = after = 0
    for capital in _LETTER.finditer(text):
        place = capital.start()
        # A name may begin in lower case, as in iPhone.
        lead = after + len(text[after:place].rstrip(ascii_lowercase))
        after = place + 1
        for start in (lead, place) if lead < place else (place,):
            if start >= end and (match := pattern.match(text, start)):
                yield match
                end = match.end()
                break


def _opens(text: str, start: int) -> bool:
    before = text[max(0, start - 40) : start]
    last = before.rstrip(" \t")[-1:]
    return not last or last in "\n.!?;…" or last in _OPENING


_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_HEADING = re.compile(r"[ \t]*(?:#.*|\|.*\|[ \t]*)|[^.!?:;,]{1,80}")


def _headings(text: str) -> list[tuple[int, int]]:
    """The lines in title case, in which a capital says nothing."""
    found: list[tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        if _HEADING.fullmatch(line) and (line.lstrip().startswith("#") or _in_title_case(line)):
            found.append((at, at + len(line)))
        at += len(line) + 1
    return found


def _in_title_case(line: str) -> bool:
    words = _LONG_WORD.findall(line)
    return len(words) >= 3 and sum(w[0].isupper() for w in words) * 3 >= len(words) * 2


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    n = bisect_right(spans, (at, 1 << 60)) - 1
    return n >= 0 and spans[n][0] <= at < spans[n][1]


def _odd(word: str) -> bool:
    """True for an acronym and CamelCase, which are names wherever they stand."""
    return (len(word) > 1 and word.isupper() and not word.isdigit()) or (
        any(c.isupper() for c in word[1:]) and any(c.islower() for c in word)
    )


def _is_roman(word: str) -> bool:
    return len(word) < 6 and bool(_ROMAN.fullmatch(word))


def _personal(word: str, lower_words: frozenset[str]) -> bool:
    """True when the word that opens a sentence stands nowhere in lower case."""
    lower = word.lower()
    return lower not in COMMON and len(word) > 2 and lower not in lower_words


def _german(kept: list[re.Match[str]], text: str) -> bool:
    """True for two capitals in a row without an article or adjective before them."""
    if len(kept) < 2:
        return False
    before = re.search(r"([^\W\d_]+)[ ]$", text[max(0, kept[0].start() - 20) : kept[0].start()])
    return before is None or before.group(1).lower() in {
        "und",
        "mit",
        "von",
        "an",
        "bei",
        "hat",
        "nach",
        "in",
        "für",
    }
