"""Names: capitalised words inside sentences, what follows a title, acronyms and CamelCase."""

import re
from bisect import bisect_right
from collections.abc import Iterator

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
_CAPITAL = r"[A-ZÀ-ÖØ-ÞŁŚŻŠČŽĐ][^\W_]*(?:[-’'](?!s\b)[^\W\d_]+)*|(?<![a-z])[a-z]+[A-Z][^\W_]*"
_SEQUENCE = re.compile(
    rf"(?<![\w@#/.\\-])(?:{_CAPITAL})(?:['’]s)?(?:(?:(?<=\b[A-Z])\.[ ]?|(?<=\bDr|\bMr|\bMs"
    rf"|\bSt)\.[ ]|(?<=\bMrs)\.[ ]|(?<=\bProf)\.[ ]|[ ])(?:{_CAPITAL})(?:['’]s)?"
    rf"|[ ](?:of|de|van|von|der|da|bin|al)[ ](?={_CAPITAL}))*"
)
_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W\d_]+)*")
_SINGLE = re.compile(_CAPITAL)
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


def names(text: str, language: str, *, also: frozenset[str] = frozenset()) -> Iterator[Fact]:
    """The names of a text, each sequence of words as one.

    A capitalised word that opens a sentence is one only with evidence: a second name after it, or
    the same word elsewhere in the middle of a sentence.

    Args:
        text: The text, code and addresses blanked.
        language: Its ISO 639-1 code. German capitalises every noun, so there only what follows a
            title, acronyms and two names in a row count.
        also: Words that are names by the evidence of another text, in lower case.
    """
    starts = frozenset(start for start, _ in sentence_spans(text))
    headings = _headings(text)
    inside = also | frozenset(_inside(text, language, starts, headings))
    lower_words = frozenset(_LOWER.findall(text))
    for match in _SEQUENCE.finditer(text):
        if _within(match.start(), headings):
            continue
        tokens = list(_WORD.finditer(text, match.start(), match.end()))
        opening = match.start() in starts or _opens(text, match.start())
        titled = weak = False
        kept: list[re.Match[str]] = []
        for n, token in enumerate(tokens):
            word = token.group()
            bare = re.sub(r"['’]s$", "", word)
            lower = bare.lower()
            if re.match(r"I['’]", word):
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
            if n == 0 and opening and not titled and lower not in inside and not _odd(bare):
                following = tokens[1].group() if len(tokens) > 1 else ""
                if (
                    not following[:1].isupper()
                    or following.lower() in COMMON
                    or language == "de"
                    or not _personal(bare, lower_words)
                ):
                    if len(tokens) > 1 or len(bare) < 3:
                        continue
                    weak = True
            kept.append(token)
        if not kept or (opening and text[kept[-1].end() : kept[-1].end() + 1] == ":"):
            continue  # a label
        shown = text[kept[0].start() : kept[-1].end()]
        if (
            language == "de"
            and not titled
            and not _odd(kept[0].group())
            and not _german(kept, text)
        ):
            continue
        parts = tuple(
            re.sub(r"['’]s?$", "", t.group()).lower()
            for t in kept
            if t.group()[0].isupper() or _odd(t.group())
        )
        yield Fact(
            kind="name",
            shown=re.sub(r"['’]s$", "", shown),
            start=kept[0].start(),
            end=kept[-1].end(),
            keys=(parts,),
            weak=weak,
        )


def _inside(
    text: str, language: str, starts: frozenset[int], headings: list[tuple[int, int]]
) -> Iterator[str]:
    """The words that are capitalised in the middle of a sentence, in lower case."""
    if language == "de":
        return
    for match in _SINGLE.finditer(text):
        lower = match.group().lower()
        if (
            lower in COMMON
            or match.start() in starts
            or text[match.start() - 1 : match.start()].isalnum()
        ):
            continue
        if not (_opens(text, match.start()) or _within(match.start(), headings)):
            yield lower


def _opens(text: str, start: int) -> bool:
    before = text[max(0, start - 40) : start]
    last = before.rstrip(" \t")[-1:]
    return not last or last in "\n.!?;…" or last in _OPENING


_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_HEADING = re.compile(r"^[ \t]*(?:#.*|\|.*\|[ \t]*)$|^[^\n.!?:;,]{1,80}$", re.MULTILINE)


def _headings(text: str) -> list[tuple[int, int]]:
    """The lines in title case, in which a capital says nothing."""
    found: list[tuple[int, int]] = []
    for match in _HEADING.finditer(text):
        words = _LONG_WORD.findall(match.group())
        capital = sum(w[0].isupper() for w in words)
        if match.group().lstrip().startswith("#") or (
            len(words) >= 3 and capital * 3 >= len(words) * 2
        ):
            found.append(match.span())
    return found


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    n = bisect_right(spans, (at, 1 << 60)) - 1
    return n >= 0 and spans[n][0] <= at < spans[n][1]


def _odd(word: str) -> bool:
    """True for an acronym and CamelCase, which are names wherever they stand."""
    return (len(word) > 1 and word.isupper() and not word.isdigit()) or (
        any(c.isupper() for c in word[1:]) and any(c.islower() for c in word)
    )


def _is_roman(word: str) -> bool:
    return bool(re.fullmatch(r"[IVXLC]+", word)) and len(word) < 6


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
