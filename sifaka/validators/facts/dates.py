"""Dates and times of day, however they are written."""

import re
from collections.abc import Iterable, Iterator, Sequence

from sifaka.validators.facts.fact import Fact, Key
from sifaka.validators.facts.numbers import DIGITS, at_digits
from sifaka.validators.facts.units import unit_of
from sifaka.validators.facts.vocabulary import MONTHS, WEEKDAYS

_MONTH = "(?P<month>[^\\W\\d_]{3,10})\\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|ª)?\.?"
_ISO = re.compile(r"(?<![\w-])(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?![\w-])")
_CJK = re.compile(
    r"(?:(?P<year>\d{4})[年년]\s?)?(?P<month>\d{1,2})[月월](?:\s?(?P<day>\d{1,2})[日号일])?"
)
_NUMERIC = re.compile(
    r"(?<![\w.])(?P<one>\d{1,2})(?P<mark>[./])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}"
    r"|\d{2})(?![\w])"
)
_DAY_FIRST = re.compile(
    rf"(?<![\w.,]){_DAY}(?:\s+(?:of|de|di))?\s+{_MONTH}(?:,?\s+(?:de\s+"
    rf"|del\s+)?(?P<year>\d{{4}})(?!\d))?",
)
_MONTH_FIRST = re.compile(
    rf"(?<![\w]){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.]\d"
    rf"|\d)(?:,?\s+(?P<year>\d{{4}})(?!\d))?"
)
_MONTH_YEAR = re.compile(rf"(?<![\w]){_MONTH},?\s+(?:of\s+|de\s+|del\s+)?(?P<year>\d{{4}})(?!\d)")
_LAST_WORD = re.compile(r"(?<!\w)[^\W\d_]{3,10}\.?\Z")
_LONGEST = 11
"""Characters of a month and a full stop at most."""
_LISTED = sorted((*WEEKDAYS, *(m for m in MONTHS if len(m) > 2)), key=len, reverse=True)
_WORD = re.compile(rf"\b(?:{'|'.join(_LISTED)})s?\b", re.IGNORECASE)
_RUN = re.compile(r"\w+")
_FIRST = frozenset(f"{word.partition('-')[0]}{s}" for word in _LISTED for s in ("", "s"))
_AMBIGUOUS = """
    mar may march mai sept jan dec mars mei august april marzo maggio jun jul nov feb apr aug
    sep oct okt dez avril juin
"""
_SHORTENED = frozenset(_AMBIGUOUS.split())
"""Names of months that are other words too."""
_BEFORE_MONTH = re.compile(
    r"(?:in|of|by|until|since|from|to|till|before|after|during|last|next|late|early|mid|and|im|en"
    r"|bis"
    r"|seit|de|à|this|through)[ ]$",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\w:.,])(?P<hour>\d{1,2})(?:(?P<mark>[:.]"
    r"|[ \u00a0\u202f]?[hH][ \u00a0\u202f]?)(?P<minute>[0-5]\d)(?![\d:])"
    r"(?P<second>:[0-5]\d)?)?(?:[ \u00a0\u202f]?(?P<half>[ap]\.?[ ]?m\b\.?|[AP]\.?M\b\.?)"
    r"|[ \u00a0\u202f](?P<clock>Uhr|o['’]clock|heures|uur|Ur)\b)?"
)
_NAMED = re.compile(
    # The letter is in front of what tells that it opens a word: that is quicker to search.
    r"[mnMN](?<!\w.)(?i:(?P<noon>(?<=n)oon|(?<=m)(?:idday|ittags?|idi|ediodía))\b"
    r"|(?<=m)(?:idnight|itternacht|inuit|edianoche)\b)"
)


def dates(text: str) -> Iterator[Fact]:
    """The dates, months and days of the week; none overlaps another."""
    for pattern in (_ISO, _CJK, _NUMERIC, _DAY_FIRST, _MONTH_FIRST):
        found = list(_dates(_matches(pattern, text)))
        yield from found
        text = _without(text, found)
    # The patterns are slow, and most texts name neither a month nor a day.
    if _FIRST.isdisjoint(_RUN.findall(text.lower())):
        return
    found = list(_dates(_MONTH_YEAR.finditer(text)))
    yield from found
    yield from _named(_without(text, found))


def _matches(pattern: re.Pattern[str], text: str) -> Iterable[re.Match[str]]:
    """What `pattern.finditer` finds; the text is looked at only where it has digits."""
    if pattern is _CJK:
        return pattern.finditer(text) if "月" in text or "월" in text else ()
    return _after_words(text) if pattern is _MONTH_FIRST else at_digits(pattern, text)


def _after_words(text: str) -> Iterator[re.Match[str]]:
    """What `_MONTH_FIRST` finds: a word, white space and digits."""
    at = 0
    for digits in DIGITS.finditer(text):
        between = text[at : digits.start()]
        words = between.rstrip()
        if len(words) < len(between):
            word = _LAST_WORD.search(words, max(0, len(words) - _LONGEST))
            if word and (match := _MONTH_FIRST.match(text, at + word.start())):
                yield match
        at = digits.end()


def _dates(matches: Iterable[re.Match[str]]) -> Iterator[Fact]:
    for match in matches:
        keys = tuple(_readings(match))
        if keys:
            yield Fact(
                kind="date",
                shown=match.group().strip(),
                start=match.start(),
                end=match.end(),
                keys=keys,
            )


def _named(text: str) -> Iterator[Fact]:
    """The months and days of the week that stand alone."""
    for match in _WORD.finditer(text):
        word = match.group().lower()
        day = WEEKDAYS.get(word)
        if day is None and word.endswith("s"):
            day = WEEKDAYS.get(word[:-1])
        if day is not None:
            yield Fact(
                kind="date",
                shown=match.group(),
                start=match.start(),
                end=match.end(),
                keys=(("weekday", day),),
            )
        elif (word in MONTHS and match.group()[0].isupper() and len(word) > 3) or (
            word == "may" and match.group() == "May"
        ):
            month = MONTHS[word]
            if word in _SHORTENED and not _BEFORE_MONTH.search(
                text, max(0, match.start() - 12), match.start()
            ):
                continue
            yield Fact(
                kind="date",
                shown=match.group(),
                start=match.start(),
                end=match.end(),
                keys=((None, month, None),),
            )


def _without(text: str, facts: Sequence[Fact]) -> str:
    pieces: list[str] = []
    at = 0
    for fact in facts:
        pieces += [text[at : fact.start], " " * (fact.end - fact.start)]
        at = fact.end
    return "".join((*pieces, text[at:]))


def _readings(match: re.Match[str]) -> Iterator[Key]:
    found = match.groupdict()
    year = int(found["year"]) if found["year"] else None
    if "one" in found:
        one, two = int(found["one"]), int(found["two"])
        if year is not None and year < 100:
            year += 2000 if year < 70 else 1900
        if one <= 31 and two <= 12:
            yield (year, two, one)
        if found["mark"] == "/" and two <= 31 and one <= 12 and one != two:
            yield (year, one, two)
        return
    word = found["month"]
    month = int(word) if word.isdigit() else _month(word, bool(found.get("day")))
    day = int(found["day"]) if found.get("day") else None
    if month and month <= 12 and (day is None or 0 < day <= 31):
        yield (year, month, day)


def _month(word: str, with_day: bool) -> int | None:
    lower = word.lower()
    if lower in MONTHS:
        return MONTHS[lower]
    if not with_day or len(lower) < 5 or unit_of(lower) or lower in WEEKDAYS:
        return None
    return _misspelt(lower)


def _misspelt(word: str) -> int | None:
    """The month that a word with a slip of the keyboard means."""
    from rapidfuzz.distance import OSA

    known = [name for name in MONTHS if len(name) > 3 and name[0] == word[0]]
    near = [name for name in known if OSA.distance(name, word, score_cutoff=1) <= 1]
    return MONTHS[near[0]] if near else None


def times(text: str) -> Iterator[Fact]:
    """The times of day, to the minute."""
    for match in at_digits(_TIME, text):
        keys = tuple(_times(match))
        if keys:
            yield Fact(
                kind="time",
                shown=match.group().strip(),
                start=match.start(),
                end=match.end(),
                keys=keys,
            )
    for match in _NAMED.finditer(text):
        keys = ((12, 0),) if match["noon"] else ((0, 0), (24, 0))
        yield Fact(
            kind="time", shown=match.group(), start=match.start(), end=match.end(), keys=keys
        )


def _times(match: re.Match[str]) -> Iterator[Key]:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half, mark = match["half"], (match["mark"] or "").strip()
    if match["second"] or hour > 24:
        return
    if not half and not match["clock"] and (mark in {".", ""} or not match["minute"]):
        return
    if half:
        if not 0 < hour <= 12:
            return
        yield (hour % 12 + (12 if half[0] in "pP" else 0), minute)
        return
    yield (hour, minute)
    if 0 < hour < 12 and not match["hour"].startswith("0"):
        yield (hour + 12, minute)
