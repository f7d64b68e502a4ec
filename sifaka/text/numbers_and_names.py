"""What a text states in a form that can be compared exactly: the one normaliser and the one reader.

Numbers, dates, times, money, addresses, code, quotations and names. It says what stands in a text,
in whatever notation; it judges no change.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Literal

from sifaka.text.language import tell_language
from sifaka.text.names import names_in
from sifaka.text.notation import (
    MONEY,
    MONTHS,
    NUMBER_WORDS,
    RANGE,
    SCALES,
    UNITS,
    WEEKDAYS,
    any_of,
    numeral_readings,
    shown_number,
)
from sifaka.text.prose import blanked, urls

Kind = Literal["number", "date", "money", "url", "code", "quote", "name"]
"""Times and weekdays are dates, e-mail addresses are URLs."""
READ_LANGUAGES = tuple(NUMBER_WORDS)
"""Languages whose words of numbers are read."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One of the figures, addresses, quotations or names of a text."""

    kind: Kind
    text: str
    """As it stands."""
    value: str
    """In one notation; where a notation has several readings, `|` stands between them."""
    start: int
    end: int
    figures: frozenset[str] = frozenset()
    """The bare numbers that are written in it: a day, a year, an amount without its unit."""
    weak: bool = False
    """True of a number word without a unit, and of a name that is only in capitals."""

    @property
    def readings(self) -> frozenset[str]:
        """The values that it may have."""
        return frozenset(self.value.split("|"))

    @property
    def is_bare(self) -> bool:
        """True of a number without a unit, and of one that is part of a name."""
        return bool(self.figures) and (
            self.kind == "name" or (self.kind == "number" and " " not in self.value)
        )


# --- the normaliser ---

_GAP = r"(?<=\D\d)|(?<=\D\d\d)|(?<=\D\d{3})|(?<=^\d)|(?<=^\d\d)|(?<=^\d{3})"
_LINE_GAP = r"(?<=[^\n\d]\d)|(?<=[^\n\d]\d\d)|(?<=[^\n\d]\d{3})"


def _make_compatible(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group())


Fold = tuple[str, str | Callable[[re.Match[str]], str]]
"""A pattern, and what stands in the place of a match."""
_FOLDS: Sequence[Fold] = (
    (
        r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});",
        lambda m: html.unescape(m.group()),
    ),
    (r"[\u200b-\u200f\u2060\ufeff\u00ad\u202a-\u202e]", ""),
    (r"(?=[¹²³⁰-⁹])(?<=[^\W\d_]{4})[¹²³⁰-⁹]+|(?=[¹²³⁰-⁹])(?<=[.,;:!?\"”)])[¹²³⁰-⁹]+", ""),
    (r"(?=[¼-¾⅐-⅞])(?<=\d)[¼-¾⅐-⅞]", lambda m: f" {_make_compatible(m)}"),
    (r"[^\W\d_][\u0300-\u036f]{1,9}|[^\x00-\x7f]", _make_compatible),
    (r"[‐‑‒–—―−]", "-"),
    (r"[’‘´]", "'"),
    ("⁄", "/"),
    (r"(?=-)(?<=[^\W\d_])-[ \t]{0,9}\r?\n[ \t]{0,9}(?=[^\W\d_])", ""),
    (r"(?=\[)(?<=[\w.,;:!?\"”)%])\[(?:\d{1,3}|\^[\w-]{1,30})\](?!\()", ""),
    (rf"(?=[ '])(?:{_GAP})[ '](?=\d{{3}}(?!\d))", ""),
    (rf"(?=[ \r\n])(?:{_LINE_GAP})[ ]?\r?\n[ ]?(?=\d{{3}}(?![\d\r\n]|\Z))", ""),
    (
        r"^[ \t]{0,12}(?:(?:>|#{1,6}|[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t])?){1,6}"
        rf"(?!(?:{any_of(MONTHS)})\b)",
        "",
    ),
    (r"^[ \t]{0,12}\|?[ \t]{0,9}:?-[ :|-]{2,500}$", ""),
    (r"^[ \t]{0,12}\|[ \t]{0,9}\d{1,2}[ \t]{0,9}(?=\|)", ""),
    (r"</?[a-zA-Z!][^<>\n]{0,300}>", " "),
    (r"!?\[(?=[^\[\]\n]{1,300}\]\()|(?<=[^\n])\]\([^()\n]{0,500}\)", ""),
    (r"(?=[*_~`])(?:\*{1,3}|_{2,3}|~~|`{1,3}|(?<!\w)_(?=\w)|(?<=\w)_(?!\w))", ""),
)
_PLAIN = re.compile(
    r"(?! {0,12}\d{1,3}[.)])(?:[A-Za-z ,.;:!?\"()]|'(?!\d)|\d(?![ ']\d)|(?<=\w)-(?=\w))*"
)
"""What has nothing to fold: most sentences, of which a comparison reads dozens."""


def normalised(text: str) -> str:
    """The words of a text as they are read aloud, with single spaces between them.

    Compatible characters, ligatures, hyphens at line ends, footnote marks, spaces and line breaks
    inside numbers, characters without width, entities and the marks of Markdown and HTML are gone.
    """
    folded = text if _PLAIN.fullmatch(text) else folding(text)[0]
    return " ".join(folded.split())


def folding(text: str, folds: Sequence[Fold] = _FOLDS) -> tuple[str, list[int]]:
    """The text without its typography, and the place in the text of each of its characters.

    One place more is that of the end.
    """
    at = list(range(len(text) + 1))
    for pattern, new in folds:
        pieces, places, done = list[str](), list[int](), 0
        for match in re.finditer(pattern, text, re.MULTILINE):
            made = new if isinstance(new, str) else new(match)
            pieces += (text[done : match.start()], made)
            places += (*at[done : match.start()], *([at[match.start()]] * len(made)))
            done = match.end()
        if pieces:
            text, at = "".join((*pieces, text[done:])), places + at[done:]
    return text, at


# --- dates and times ---

_MONTH = any_of(MONTHS)
_WEEKDAY = any_of(word for word in WEEKDAYS if len(word) > 2 and word.isalpha())
_SHORT_WEEKDAY = r"(?-i:(?=[MDFS])(?:Mo|Di|Mi|Do|Fr|Sa|So))\b"
_SHIFT = re.compile(rf"(?<!\w){_SHORT_WEEKDAY}[.:]?[ \t|]{{1,9}}\d")
"""A German weekday with its hours: where there are several, `Mi` alone is one too."""
_CLOCK_WORDS = {word: value for words in NUMBER_WORDS.values() for word, value in words.items()}
_HOUR_WORD = rf"(?P<w>{any_of(word for word, value in _CLOCK_WORDS.items() if 1 <= value <= 12)})"
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_NO_DIGIT = r"(?=\d)(?<![\d/])(?<!\d[.,:-])(?<![^\W\d]-)"
_WITH_WEEKDAY = (
    rf"(?=[\dA-Za-zä-ü])(?<![^\W\d])(?:(?<!\w)(?P<wd>{_WEEKDAY}|{_SHORT_WEEKDAY})\.?,?\s{{1,3}}"
    r"(?:(?:the|den|dem|le|el)\s)?)?"
)
_YEAR = r"(?:\.?,?\s{1,3}(?:of |de |del )?(?P<y>\d{4}(?!\d)|\d\d(?=[ \t]{0,9}(?:[;,|)\n]|\Z))))?"
_MARK = (
    r"(?P<mark>[ap]\.?\s?m\b\.?|Uhr\b|o'clock|h\b|heures?\b|horas\b"
    r"|(?:de la|du|in the)\s(?:tarde|noche|mañana|soir|matin|morning|afternoon|evening)\b"
    r"|nachmittags|abends|morgens)"
)
_LATER = frozenset(
    ["pm", "午後", "下午", "晚上", "오후", "delatarde", "delanoche", "dusoir", "abends"]
) | {"nachmittags", "intheafternoon", "intheevening"}
_EARLIER = frozenset(
    ["am", "午前", "上午", "오전", "delamañana", "dumatin", "inthemorning", "morgens"]
)
_OTHER_WORDS = frozenset(
    ["march", "mars", "sept", "marzo", "may", "jan", "mar", "mai", "abr", "ago"]
)
"""Months that may be other words, or names, where they stand alone."""


def _read_date(match: re.Match[str]) -> Sequence[str]:
    """The date in a match, without the parts that it leaves out."""
    parts = match.groupdict()
    month = MONTHS.get((parts.get("m") or "").lower(), parts.get("m"))
    day, weekday = parts.get("d"), WEEKDAYS.get((parts.get("wd") or "").lower(), 0)
    dated = _to_date(parts.get("y"), month, day, weekday)
    # `12.5.` may be an amount at the end of a sentence; `89.50.` is no date.
    return [*dated, f"{day}.{month}"] if dated and parts.get("decimal") == "" else dated


def _to_date(y: object, m: object, d: object, weekday: int = 0) -> list[str]:
    year, month, day = (int(str(part)) if part else 0 for part in (y, m, d))
    year += 2000 * (0 < year < 100)
    named = f" {weekday}" if weekday else ""
    date = f"{year or '?'}-{month or '?'}-{day or '?'}{named}"
    return [date] if month <= 12 and day <= 31 else []


def _read_slashed(match: re.Match[str]) -> Sequence[str]:
    a, b, year = int(match["a"]), int(match["b"]), match["y"]
    is_share = not year and ((a < b and b in (2, 3, 4, 8)) or (a, b) == (24, 7))
    return [] if is_share else list(dict.fromkeys((*_to_date(year, b, a), *_to_date(year, a, b))))


def _is_sure(word: str) -> bool:
    """True of a month or a weekday that stands alone and can hardly be another word."""
    short = len(word) < 4 and word.isascii() and word not in ("fri", "tue")
    return word.lower() not in _OTHER_WORDS and not (short and word.islower())


def _read_time(match: re.Match[str]) -> Sequence[str]:
    """The time in a match; of one without a sign of the half of the day, as it stands."""
    parts = match.groupdict()
    hour, minute = int(parts["h"]), int(parts.get("mi") or 30 * bool(parts.get("half")))
    mark = re.sub(r"[.\s]", "", parts.get("mark") or parts.get("part") or "").lower()
    later, unsure = hour % 12 + 12, mark == "o'clock" or (mark == "pm" and "ranged" in parts)
    first = hour if unsure or mark not in _LATER | _EARLIER else later - 12 * (mark in _EARLIER)
    values = [f"T{each % 24:02}:{minute:02}" for each in (first, later)[: 1 + unsure]]
    lasts = mark in {"h", "heure", "heures", "horas"} and not parts.get("mi")
    return [*values, *[f"{3600 * hour} s"][:lasts]] if hour <= 24 and minute < 60 else []


def _read_spoken(match: re.Match[str], minutes: int) -> Sequence[str]:
    """Both times of the day that are so many minutes after an hour in words."""
    at = 60 * int(_CLOCK_WORDS[match["w"].lower()]) + minutes
    return [f"T{each // 60 % 24:02}:{each % 60:02}" for each in (at, at + 720)]


_QUARTERS = {
    start: number
    for number, starts in enumerate(
        ("1 1s 1. fi er pr", "2 2n 2. se zw de", "3 3r 3. th dr tr te", "4 4t 4. fo vi qu cu"), 1
    )
    for start in starts.split()
}
_QUARTER_WORDS = (
    r"first|second|third|fourth|erste\w?|zweite\w?|dritte\w?|vierte\w?|premier|deuxième|troisième"
    r"|quatrième|primer|segundo|tercer|cuarto"
)


# --- numbers ---

_UNIT_WORDS = any_of(u for u in UNITS if u != "in" and not re.search(r"[\u3000-\u9fff]", u))
_LATIN_UNITS = rf"(?:{_UNIT_WORDS}|in(?=[ \t]*(?:[|(),;\n]|\.?\Z)))"
"""After a figure `in` is an inch where no word follows."""
_SIGN_UNITS = any_of(unit for unit in UNITS if re.search(r"[\u3000-\u9fff]", unit))
_LATIN_SCALES = any_of(word for word in SCALES if word.isascii() and len(word) > 1)
_LABEL = any_of(
    re.findall(
        r"\S+",
        """article section step room chapter figure fig. table page gate platform phase appendix
        clause artikel abschnitt schritt raum zimmer kapitel seite étape chapitre salle artículo
        sección paso""",
    )
)


def _read_number(match: re.Match[str], words: Mapping[str, Fraction]) -> Statement | None:
    """The number in a match, without its places."""
    parts = {name: part.lower() for name, part in match.groupdict("").items()}
    numeral, word = parts["n"], parts["word"]
    values = numeral_readings(numeral) if numeral else (words.get(word, Fraction(0)),)
    over, _, under = parts["frac"].partition("/")
    more = words[parts["one"]] if parts["one"] else Fraction(int(over or 0), int(under or 1))
    factor = words.get(parts["part"], Fraction(1)) * SCALES.get(parts["scale"] + parts["sign"], 1)
    more += int(parts["whole"] or 0) + (Fraction(1, 2) if parts["ahalf"] else 0)
    values = tuple((value + more) * factor + words.get(parts["rest"], 0) for value in values)
    unit = parts["cur"] or parts["unit"] or parts["signs"] or parts["ranged"]
    dimension, size = UNITS.get(unit, ("", Fraction(1)))
    base = 32 * (dimension == "~°C")
    if dimension.endswith("°C") and re.search(
        r"(?<!\w)[-−]\Z", match.string[max(0, match.start() - 2) : match.start()]
    ):
        values = tuple(-each for each in values)
    readings = [f"{shown_number((each - base) * size)} {dimension}".strip() for each in values]
    kind: Kind = "money" if dimension in MONEY else "number"
    if not unit:
        readings += [f"{shown_number(100 * value)} %" for value in values if 0 < value < 1]
        clock = re.fullmatch(r"([01]?\d\.|2[0-3]\.|[01]\d|2[0-3])([0-5]\d)", match.group())
        readings += [f"T{int(clock[1].strip('.')):02}:{clock[2]}"] if clock else []
        if re.fullmatch(r"(?:19|20)\d\d", match.group()):
            kind, readings = "date", [f"{numeral}-?-?"]
    figures = frozenset(map(shown_number, values)) or frozenset([numeral])
    weak = figures == frozenset("1") or (bool(word) and not unit)
    is_article = word and not unit and figures == frozenset("1")
    value = "|".join(readings) or numeral
    figures |= {each.partition(" ")[0] for each in readings if dimension}
    return None if is_article else Statement(kind, "", value, 0, 0, figures, weak)


# --- the reader ---

_Row = tuple[str, Kind, Callable[[re.Match[str]], Sequence[str]]]
_DAY = rf"{_NO_DIGIT}(?P<d>\d{{1,2}}){_ORDINAL}"
_ROWS: tuple[_Row, ...] = (
    (r"(?=\d)(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号號]?", "date", _read_date),
    (rf"{_NO_DIGIT}(?P<y>\d{{4}})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)(?![\d-])", "date", _read_date),
    (
        rf"{_WITH_WEEKDAY}{_NO_DIGIT}(?P<d>\d\d?)\.(?P<gap>\s)?(?P<m>\d\d?)\."
        r"(?:\s?(?P<y>\d{4}|\d\d)(?![\d.])|(?(gap)(?!))(?P<decimal>)(?!\d))",
        "date",
        _read_date,
    ),
    (r"(?=\d)(?<![\d/.,-])(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d)(?![\d/])", "date", _read_date),
    (
        r"(?=\d)(?<![\d/])(?<!\d[.,:])(?<![^\W\d]-)(?P<a>\d\d?)/(?P<b>\d\d?)"
        r"(?:/(?P<y>\d{4}|\d\d))?(?![\d/])",
        "date",
        _read_slashed,
    ),
    (
        rf"{_WITH_WEEKDAY}{_DAY}(?={RANGE}(?:(?:{_WEEKDAY})\.?,?\s)?\d{{1,2}}{_ORDINAL}\s?"
        rf"(?:of |de )?(?P<m>{_MONTH})\b{_YEAR})",
        "date",
        _read_date,
    ),
    (
        rf"{_WITH_WEEKDAY}{_DAY}[\s-]?(?:of |de )?(?P<m>{_MONTH})(?!\w){_YEAR}",
        "date",
        _read_date,
    ),
    (
        rf"{_WITH_WEEKDAY}(?<!\w)(?P<m>{_MONTH})\.?\s{{1,3}}(?:the )?(?P<d>\d\d?)"
        rf"(?:st|nd|rd|th)?(?!\w|[.,:]\d){_YEAR}",
        "date",
        _read_date,
    ),
    (
        rf"(?<!\w)(?P<wd>{_WEEKDAY})\.?,?\s(?:the|den|dem|le|el)\s(?P<d>\d\d?){_ORDINAL}(?!\w)",
        "date",
        _read_date,
    ),
    (
        r"(?<!\w)(?P<pre>(?:in|since|until|till|by|from|of|this|last|next|early|late|mid|im|seit|between|and|zwischen|und|et|y"
        rf"|ab|bis|en|depuis|de|desde|for|through|to)[ -])?(?P<m>{_MONTH})(?!\w){_YEAR}",
        "date",
        lambda m: (
            _read_date(m)
            if m["y"]
            or (m["pre"] and m["m"] not in ("may", "march"))
            or (_is_sure(m["m"]) and m["m"][0].isupper())
            else []
        ),
    ),
    (
        rf"(?<!\w)(?P<wd>{_SHORT_WEEKDAY})(?=\.?\s?(?:-|bis)\s?{_SHORT_WEEKDAY})"
        rf"|(?:(?<=(?-i:Mo|Di|Mi|Do|Fr|Sa|So)-)|(?<=\bam\s))(?P<wd2>{_SHORT_WEEKDAY})",
        "date",
        lambda m: _to_date(0, 0, 0, WEEKDAYS[m.group().lower()]),
    ),
    (
        rf"(?<!\w)(?P<wd>{_WEEKDAY})(?:s|morgen|früh|vormittag|mittag|nachmittag|abend)?(?!\w)",
        "date",
        lambda m: _read_date(m) if _is_sure(m["wd"]) else [],
    ),
    (r"(?<![\w'])'(?P<y>\d\d)(?![\d'])", "date", _read_date),
    (
        r"(?<!\w)(?:a|one)[\s-](?P<w>third|fifth|sixth|eighth|tenth)(?!\w)",
        "number",
        lambda m: [f"{shown_number(100 / _CLOCK_WORDS[m['w'].lower()])} %"],
    ),
    (rf"(?<!\w)half\spast\s{_HOUR_WORD}(?!\w)", "date", lambda m: _read_spoken(m, 30)),
    (rf"(?<!\w)halb\s{_HOUR_WORD}(?!\w)", "date", lambda m: _read_spoken(m, -30)),
    (
        rf"(?<!\w){_HOUR_WORD}(?:\sheures)?\s(?:et\sdemie|y\smedia)(?!\w)",
        "date",
        lambda m: _read_spoken(m, 30),
    ),
    (rf"(?<!\w)(?:a\s)?quarter\spast\s{_HOUR_WORD}(?!\w)", "date", lambda m: _read_spoken(m, 15)),
    (rf"(?<!\w)(?:a\s)?quarter\sto\s{_HOUR_WORD}(?!\w)", "date", lambda m: _read_spoken(m, -15)),
    (r"(?P<wd>(?:星期|周|週)[一二三四五六日天]|[月火水木金土日]曜日)", "date", _read_date),
    (
        rf"{_NO_DIGIT}(?P<y>\d{{3}}0)(?:s\b|er\b(?= Jahre)|\s?-\s?\d{{3}}9(?!\d))",
        "date",
        lambda m: [f"{m['y']}s"],
    ),
    (
        rf"(?<!\w)(?:[QT](?P<q>[1-4])(?!\w)|(?P<named>[1-4](?:st|nd|rd|th|\.)|{_QUARTER_WORDS})"
        r"[\s-](?:quarter|quartal\w?|trimestre)(?!\w))",
        "date",
        lambda m: [f"Q{_QUARTERS[(m['q'] or m['named'])[:2].lower()]}"],
    ),
    (
        r"(?P<part>午前|午後|上午|下午|晚上|오전|오후)?(?P<h>\d\d?)(?:時|点|點|时)(?!間|间)"
        r"(?:(?P<mi>\d\d?)分|(?P<half>半))?",
        "date",
        _read_time,
    ),
    (rf"{_NO_DIGIT}(?P<h>\d\d?)\s?h\s?(?P<mi>\d\d)(?!\d|\s?m)", "date", _read_time),
    (
        rf"{_NO_DIGIT}(?P<h>\d\d?)(?:[:.](?P<mi>\d\d))?(?P<ranged>)(?={RANGE}\d\d?(?:[:.]\d\d)?"
        rf"\s?{_MARK})",
        "date",
        _read_time,
    ),
    (
        rf"(?=\d)(?<![\w.,:])(?P<h>\d\d?):(?P<mi>\d\d)(?::\d\d)?(?:\s?{_MARK})?(?!\d)",
        "date",
        _read_time,
    ),
    (rf"(?=\d)(?<![\w.,:])(?P<h>\d\d?)[.:](?P<mi>\d\d)\s?{_MARK}", "date", _read_time),
    (
        r"(?=\d)(?<![\w.,:])(?P<h>\d{1,3})\s?(?:h|hrs?|hours?|Std\.?|Stunden?|heures?|horas?)"
        r"(?:,?\s(?:and|und|et|y)\s|,?\s?)"
        r"(?P<mi>\d{1,3})\s?(?:m|mins?|minutes?|Minuten|minutos?)(?!\w)",
        "number",
        lambda m: [f"{3600 * int(m['h']) + 60 * int(m['mi'])} s"],
    ),
    (
        rf"(?=\d)(?<![\w.,:])(?P<h>\d\d?)\s?(?!h(?:ours?|rs?)\b){_MARK}(?!\w)",
        "date",
        _read_time,
    ),
    (r"\b(?:noon|midday|mittag|midi|mediodía)\b", "date", lambda _: ["T12:00"]),
    (r"\b(?:midnight|mitternacht|minuit|medianoche)\b", "date", lambda _: ["T00:00"]),
    (
        r"(?<![\w.,+])(?:\+\d|\(?0\d)[\d ()/-]{5,20}\d(?![\d.,]\d|\d)",
        "number",
        lambda m: ["tel" + re.sub(r"\D", "", m.group()).lstrip("0")],
    ),
    (
        # Two figures of up to four digits are a range.
        r"(?=\d)(?<![\w.,-])\d{1,20}-(?:0\d{0,20}|\d{5,20}|\d{1,20}(?=-\d))(?:-\d{1,20})*(?![\w-])",
        "number",
        lambda m: [m.group()],
    ),
    (
        rf"(?<!\w)(?P<label>{_LABEL})s?\s(?P<n>\d{{1,5}}(?:\.\d{{1,4}}){{0,4}})(?!\w)",
        "name",
        lambda m: [f"{m['label'].lower()} {m['n']}"],
    ),
    (r"(?<![\w#&])#\d{1,7}(?!\w)", "name", lambda m: [m.group()]),
    # What a commit is called.
    (
        r"(?<!\w)(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])(?-i:[0-9a-f]{7,40})(?!\w)",
        "name",
        lambda m: [m.group()],
    ),
    (
        r"(?<![\w.-])(?-i:[A-Z])(?:[A-Za-z]{0,20}-\d|[A-Za-z]{0,9}\d)[\w-]{0,20}",
        "name",
        lambda m: [m.group().casefold().replace("-", "")],
    ),
)
"""What is looked for one after the other, the kind, and the readings; nothing where it is none.

What one row has taken the next does not see.
"""


_BY = r"\s?[x×]\s?"


_compile = cache(partial(re.compile, flags=re.IGNORECASE))


@lru_cache(maxsize=8)
def _compile_numbers(language: str) -> re.Pattern[str]:
    word = any_of(NUMBER_WORDS[language])
    return re.compile(
        r"(?:(?<!\w)(?P<cur>US\$|[$€£¥₹]|(?:EUR|USD|GBP|CHF|JPY|INR|PLN|CNY|Rs)(?=\.?\s))\.?\s?)?"
        r"(?:(?=\d)(?!\d+(?-i:[a-f][\da-f]{3,})\b)(?<![A-Za-uw-zÀ-ɏ_\d])(?<!\d[.,'])(?:(?:(?P<whole>\d{1,4})\s)?"
        r"(?P<frac>\d{1,2}/[1-9]\d?)(?![\d/])|(?P<n>\d+(?:[.,']\d+)*))"
        rf"|(?<!\w)(?P<word>{word})(?:-(?P<one>{word}))?(?!\w))"
        r"(?:[\s-](?P<part>thirds|quarters|viertel)(?!\w))?"
        rf"(?:[\s-]?(?:(?P<scale>{_LATIN_SCALES}|(?-i:[kKMB])|(?(cur)[mb]|(?!)))(?!\w)"
        rf"(?:(?<=hundred)\s(?:and\s)?(?P<rest>{word})(?!\w))?"
        r"|(?P<sign>[千万萬亿億])))?"
        r"(?:(?:\s|-)?(?:of\s|de\s|d')?(?:an?\s|eine[nrms]?\s|une?\s)?"
        rf"(?:(?P<unit>{_LATIN_UNITS})(?![^\W_])|(?P<signs>{_SIGN_UNITS})))?"
        r"(?P<ahalf>\sand\sa\shalf(?!\w)|\set\sdemie?(?!\w)|\sy\smedia(?!\w))?"
        rf"(?:(?=(?:{RANGE}|{_BY}\d[\d.,]{{0,9}}{_BY}|{_BY})\d[\d.,]{{0,9}}[\s-]?"
        rf"(?P<ranged>{_LATIN_UNITS})(?![^\W\d_])))?",
        re.IGNORECASE,
    )


_LITERALS: tuple[tuple[Kind, str], ...] = (
    ("code", r"^[ ]{0,3}(```|~~~)[^\n]{0,200}\n(?:.*?)^[ ]{0,3}\1"),
    ("code", r"`[^`\n]{1,300}`"),
    ("url", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"),
)
_QUOTE = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^“”\n]{1,1000})”|„([^„“”\n]{1,1000})[“”]|«([^«»\n]{1,1000})»"
    r"|「([^「」\n]{1,1000})」"
)


def read(text: str) -> tuple[Statement, ...]:
    """The statements of a text, in their order; places count in the text as it is given."""
    stated = _find_literals(text)
    folded, at = folding(blanked(text, [(each.start, each.end) for each in stated]))
    detected = tell_language(folded).language or "en"

    def add(start: int, end: int, made: Statement) -> str:
        quote = text[at[start] : at[end - 1] + 1]
        first = at[start] + len(quote) - len(quote.lstrip())
        quote = quote.strip()
        value = made.value or words_of(quote)
        stated.append(replace(made, text=quote, value=value, start=first, end=first + len(quote)))
        return "\0" * (end - start)

    def take(
        kind: Kind, readings: Callable[[re.Match[str]], Sequence[str]], m: re.Match[str]
    ) -> str:
        value = "|".join(readings(m))
        written = re.findall(r"\d+", m.group()) if kind == "date" or " " in value else []
        figures = frozenset(str(int(run[:20])) for run in written)
        figures |= {str(int(hour) % 12) for hour in re.findall(r"T(\d\d):00", value)}
        return add(*m.span(), Statement(kind, "", value, 0, 0, figures)) if value else m.group()

    for match in _QUOTE.finditer(folded):
        add(*match.span(), Statement("quote", "", "", 0, 0))
    is_plan = len(_SHIFT.findall(folded)) > 1
    for pattern, kind, readings in _ROWS:
        folded = _compile(pattern).sub(partial(take, kind, readings), folded)
    if is_plan:
        days = partial(take, "date", lambda m: _to_date(0, 0, 0, WEEKDAYS[m.group().lower()]))
        folded = re.sub(rf"(?<!\w){_SHORT_WEEKDAY}", days, folded)
    folded = re.sub(r"\d[\d.]*,[\d.,]*\d", _space_figures, folded)
    language = detected if detected in NUMBER_WORDS else "en"
    words = NUMBER_WORDS[language]
    folded = _compile_numbers(language).sub(
        lambda m: add(*m.span(), made) if (made := _read_number(m, words)) else m.group(), folded
    )
    for start, end, weak in names_in(folded, detected):
        add(start, end, Statement("name", "", "", 0, 0, weak=weak))
    return tuple(sorted(stated, key=lambda each: (each.start, each.end)))


def _space_figures(listed: re.Match[str]) -> str:
    """The figures of a line of CSV, which are no quantity together, with spaces between them."""
    figures = listed.group()
    return figures if numeral_readings(figures) else figures.replace(",", " ")


def words_of(text: str) -> str:
    """The letters and digits of a text, in lower case, without accents and with single spaces."""
    plain = unicodedata.normalize("NFKD", normalised(text).casefold())
    plain = re.sub(r"\bcan(?:'t|not)\b", "can not", plain)
    plain = re.sub(r"n't\b", " not", plain)
    return " ".join(re.findall(r"[^\W_]+", re.sub(r"[\u0300-\u036f']", "", plain)))


def _find_literals(text: str) -> list[Statement]:
    literals: list[Statement] = []
    left = text
    for kind, pattern in _LITERALS:
        for match in re.finditer(pattern, left, re.MULTILINE | re.DOTALL):
            bare = re.sub(r"\A[`~]{3}.*", "", match.group()).strip("`~ \n")
            literals.append(Statement(kind, match.group(), bare, *match.span()))
        left = blanked(text, [(each.start, each.end) for each in literals])
    for start, end in urls(left):
        bare = re.sub(r"^(?:https?://|mailto:)?(?:www\.)?", "", text[start:end].casefold())
        literals.append(Statement("url", text[start:end], bare.rstrip("/"), start, end))
    return literals


# --- comparison ---

_CONVERTED = 0.05
"""The share by which a value may be rounded when it is given in a unit of another system."""


def is_same(one: Statement, other: Statement) -> bool:
    """True when two statements say the same in whatever notation, as far as both say it."""
    if one.is_bare or other.is_bare:
        return bool(one.figures & other.figures or one.readings & other.readings)
    return any(
        a == b or _may_agree(a, b) or _is_close(a, b) for a in one.readings for b in other.readings
    )


def _may_agree(one: str, other: str) -> bool:
    """True when two dates, of which each may leave a part out, can be the same one."""
    pairs = zip(re.split("[- ]", f"{one} ?"), re.split("[- ]", f"{other} ?"), strict=False)
    both = [(a, b) for a, b in pairs if "?" not in (a, b)]
    return "-" in one and "-" in other and bool(both) and all(a == b for a, b in both)


def _is_close(one: str, other: str) -> bool:
    """True when two values agree roughly and only one of them is in a converted unit."""
    (a, _, unit), (b, _, second) = one.partition(" "), other.partition(" ")
    converted = unit != second and unit.lstrip("~") == second.lstrip("~") != ""
    return converted and abs(float(a) - float(b)) <= _CONVERTED * max(abs(float(a)), abs(float(b)))
