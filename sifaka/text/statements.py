"""What a text states in a form that can be compared exactly: the one normaliser and the one reader.

Numbers, dates, times, money, addresses, code, quotations and names. It says what stands in a text,
in whatever notation; it judges no change.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sifaka.text.function_words import FUNCTION_WORDS
from sifaka.text.language import tell_language
from sifaka.text.notation import (
    MONEY,
    MONTHS,
    NUMBER_WORDS,
    RANGE,
    SCALES,
    SHORT_WEEKDAYS,
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


def _compatible(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group())


def _spaced(match: re.Match[str]) -> str:
    return f" {_compatible(match)}"


def _unescaped(match: re.Match[str]) -> str:
    return html.unescape(match.group())


_New = str | Callable[[re.Match[str]], str]
_FOLD_TABLE: tuple[tuple[str, _New], ...] = (
    (
        r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});",
        _unescaped,
    ),
    (r"[\u200b-\u200f\u2060\ufeff\u00ad\u202a-\u202e]", ""),
    (r"(?<=[^\W\d_]{4})[¹²³⁰-⁹]+|(?<=[.,;:!?\"”)])[¹²³⁰-⁹]+", ""),
    (r"(?<=\d)[¼-¾⅐-⅞]", _spaced),
    (r"[^\W\d_][\u0300-\u036f]{1,9}|[^\x00-\x7f]", _compatible),
    (r"[‐‑‒–—―−]", "-"),
    (r"[’‘´]", "'"),
    ("⁄", "/"),
    (r"(?<=[^\W\d_])-[ \t]{0,9}\r?\n[ \t]{0,9}(?=[^\W\d_])", ""),
    (r"(?<=[\w.,;:!?\"”)%])\[(?:\d{1,3}|\^[\w-]{1,30})\](?!\()", ""),
    (rf"(?:{_GAP})[ '](?=\d{{3}}(?!\d))", ""),
    (rf"(?:{_LINE_GAP})[ ]?\r?\n[ ]?(?=\d{{3}}(?![\d\r\n]|\Z))", ""),
    (
        r"^[ \t]{0,12}(?:(?:>|#{1,6}|[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t])?){1,6}"
        rf"(?!(?:{any_of(MONTHS)})\b)",
        "",
    ),
    (r"^[ \t]{0,12}\|?[ \t]{0,9}:?-[ :|-]{2,500}$", ""),
    (r"</?[a-zA-Z!][^<>\n]{0,300}>", " "),
    (r"!?\[(?=[^\[\]\n]{1,300}\]\()|(?<=[^\n])\]\([^()\n]{0,500}\)", ""),
    (r"\*{1,3}|_{2,3}|~~|`{1,3}|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)", ""),
)
_FOLDS = tuple((re.compile(pattern, re.MULTILINE), new) for pattern, new in _FOLD_TABLE)


def normalised(text: str) -> str:
    """The words of a text as a reader hears them, with single spaces between them.

    Compatible characters, ligatures, hyphens at line ends, footnote marks, spaces and line breaks
    inside numbers, characters without width, entities and the marks of Markdown and HTML are gone.
    """
    return " ".join(_folded(text)[0].split())


def _folded(text: str) -> tuple[str, list[int]]:
    """The text without its typography, and the place in the text of each of its characters."""
    at = list(range(len(text) + 1))
    for pattern, new in _FOLDS:
        pieces: list[str] = []
        places: list[int] = []
        done = 0
        for match in pattern.finditer(text):
            made = new if isinstance(new, str) else new(match)
            pieces += (text[done : match.start()], made)
            places += at[done : match.start()]
            places += [at[match.start()]] * len(made)
            done = match.end()
        if pieces:
            text, at = "".join((*pieces, text[done:])), places + at[done:]
    return text, at


# --- dates and times ---

_MONTH, _WEEKDAY = any_of(MONTHS), any_of(WEEKDAYS)
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_NO_DIGIT = r"(?<![\d/])(?<!\d[.,:-])"
_WITH_WEEKDAY = rf"(?:(?<!\w)(?P<wd>{_WEEKDAY})\.?,?\s{{1,3}}(?:(?:the|den|dem|le|el)\s)?)?"
_YEAR = r"(?:,?\s{1,3}(?:of |de |del )?(?P<y>\d{4})(?!\d))?"
_DAYPARTS = r"(?P<part>午前|午後|上午|下午|晚上|오전|오후)?"
_MARK = r"(?P<mark>[ap]\.?\s?m\b\.?|Uhr\b|o'clock|h\b|heures?\b|horas\b)"
_Made = Iterator[tuple[Kind, str, frozenset[str], bool]]


def _date(y: object, m: object, d: object, weekday: int | None) -> str:
    day, month, year = (int(str(part)) if part else 0 for part in (d, m, y))
    if year and year < 100:
        year += 2000
    if month > 12 or day > 31:
        return ""
    named = f" {weekday}" if weekday else ""
    return f"{year or '?'}-{month or '?'}-{day or '?'}{named}"


def _read_dates(match: re.Match[str]) -> _Made:
    parts = match.groupdict()
    month, weekday = parts.get("m"), parts.get("wd")
    named = WEEKDAYS.get(weekday.lower()) if weekday else None
    if month and not month.isdigit():
        month = MONTHS[month.lower()]
    for day in filter(None, (parts.get("d"), parts.get("d2"))):
        orders = [(month, day)]
        if parts.get("swaps"):
            orders.append((day, month))
        values = [_date(parts.get("y"), m, d, named) for m, d in orders]
        if parts.get("decimal") is not None:
            values.append(f"{day}.{month}")
        figures = frozenset({str(int(day)), parts.get("y") or str(int(day))})
        if values := list(dict.fromkeys(filter(None, values))):
            yield "date", "|".join(values), figures, False


def _read_slashed(match: re.Match[str]) -> _Made:
    a, b, year = int(match["a"]), int(match["b"]), match["y"]
    if not year and ((a < b and b in (2, 3, 4, 8) and a != 2) or (a, b) in {(2, 3), (24, 7)}):
        return
    values = [_date(year, *order, None) for order in ((b, a), (a, b))]
    if values := list(dict.fromkeys(filter(None, values))):
        yield (
            "date",
            "|".join(values),
            frozenset({str(a), str(b), *([year] if year else [])}),
            False,
        )


def _read_month(match: re.Match[str]) -> _Made:
    word, year = match["m"], match.groupdict().get("y")
    sure = len(word) > 3 and word.lower() not in {"march", "mars", "sept", "marzo"}
    if year or match["pre"] or (sure and word[0].isupper()):
        figures = frozenset([year] if year else [])
        yield "date", _date(year, MONTHS[word.lower()], 0, None), figures, False


def _read_weekday(match: re.Match[str]) -> _Made:
    word = match["wd"]
    if len(word) > 4 or word[0].isupper() or not word.isascii() or word.lower() in ("fri", "tue"):
        yield "date", _date(0, 0, 0, WEEKDAYS[word.lower()]), frozenset(), False


def _read_short_weekdays(match: re.Match[str]) -> _Made:
    for word in match.groups():
        yield "date", _date(0, 0, 0, SHORT_WEEKDAYS[word.lower()]), frozenset(), False


def _read_decade(match: re.Match[str]) -> _Made:
    yield "date", f"{match['y']}s", frozenset({match["y"]}), False


_QUARTERS = {"1": 1, "fir": 1, "ers": 1, "pre": 1, "pri": 1, "2": 2, "sec": 2, "zwe": 2, "deu": 2,
             "seg": 2, "3": 3, "thi": 3, "dri": 3, "tro": 3, "ter": 3, "4": 4, "fou": 4, "vie": 4,
             "qua": 4, "cua": 4}  # fmt: skip
_QUARTER_WORDS = (
    r"first|second|third|fourth|erste\w?|zweite\w?|dritte\w?|vierte\w?|premier|deuxième|troisième"
    r"|quatrième|primer|segundo|tercer|cuarto"
)


def _read_quarter(match: re.Match[str]) -> _Made:
    named = match["q"] or match["named"]
    number = _QUARTERS[named[0] if named[0].isdigit() else named[:3].lower()]
    yield "date", f"Q{number}", frozenset({str(number)}), False


def _read_time(match: re.Match[str]) -> _Made:
    parts = match.groupdict()
    hour, minute = int(parts["h"]), int(parts.get("mi") or 0) or 30 * bool(parts.get("half"))
    mark = re.sub(r"[.\s]", "", parts.get("mark") or parts.get("part") or "").lower()
    if hour > 24 or minute > 59:
        return
    hours = [hour]
    if mark in {"pm", "午後", "下午", "晚上", "오후"}:
        hours = [hour % 12 + 12]
    elif mark in {"am", "午前", "上午", "오전"}:
        hours = [hour % 12]
    elif mark == "o'clock":
        hours = [hour, hour + 12]
    if parts.get("ranged") is not None and mark == "pm":
        hours = [hour, hour % 12 + 12]
    values = [f"T{each % 24:02}:{minute:02}" for each in hours]
    if mark in {"h", "heure", "heures", "horas"} and not parts.get("mi"):
        values.append(f"{3600 * hour} s")
    yield "date", "|".join(values), frozenset({str(hour)}), False


def _read_clock_word(match: re.Match[str]) -> _Made:
    hour = {"noon": 12, "midday": 12, "mittag": 12, "midi": 12, "mediodía": 12}
    yield "date", f"T{hour.get(match.group().lower(), 0):02}:00", frozenset({"12"}), False


# --- numbers ---

_LATIN_UNITS = any_of(unit for unit in UNITS if not re.search(r"[\u3000-\u9fff]", unit))
_SIGN_UNITS = any_of(unit for unit in UNITS if re.search(r"[\u3000-\u9fff]", unit))
_LATIN_SCALES = any_of(word for word in SCALES if word.isascii() and len(word) > 1)
_HOURS = r"(?:h|hrs?|hours?|Std\.?|Stunden?|heures?|horas?)"
_MINUTES = r"(?:m|mins?|minutes?|Minuten|minutos?)"
_LABELS = (
    "article|section|step|room|chapter|figure|fig.|table|page|gate|platform|phase|appendix|clause"
    "|artikel|abschnitt|schritt|raum|zimmer|kapitel|seite|étape|chapitre|salle|artículo|sección|paso"
)


def _read_phone(match: re.Match[str]) -> _Made:
    digits = re.sub(r"\D", "", match.group())
    if 7 <= len(digits) <= 15:
        yield "number", f"tel{digits.lstrip('0')}", frozenset({digits}), False


def _read_code_number(match: re.Match[str]) -> _Made:
    first, _, second = match.group().partition("-")
    if "-" in second or second[0] == "0" or len(second) > 4 or int(first[:5]) >= int(second):
        yield "number", match.group(), frozenset({match.group()}), False


def _read_label(match: re.Match[str]) -> _Made:
    number = match["n"]
    yield "name", f"{match['label'].lower()} {number}", frozenset({number}), False


def _read_figured_name(match: re.Match[str]) -> _Made:
    yield "name", match.group().casefold().replace("-", ""), frozenset(), False


def _read_duration(match: re.Match[str]) -> _Made:
    hours, minutes = (numeral_readings(match[name]) for name in ("h", "mi"))
    if hours and minutes:
        seconds = 3600 * hours[-1] + 60 * minutes[-1]
        yield "number", f"{shown_number(seconds)} s", frozenset({match["h"], match["mi"]}), False


def _number_reader(words: dict[str, Fraction]) -> Callable[[re.Match[str]], _Made]:
    def read_number(match: re.Match[str]) -> _Made:
        numeral, word = match["n"], match["word"]
        values = numeral_readings(numeral) if numeral else ()
        if word:
            values = (words[word.lower()] + (words[match["one"].lower()] if match["one"] else 0),)
        if match["part"]:
            values = tuple(each * words[match["part"].lower()] for each in values)
        if match["frac"]:
            over, _, under = match["frac"].partition("/")
            values = (int(match["whole"] or 0) + Fraction(int(over), int(under)),)
        if match["ahalf"]:
            values = tuple(each + Fraction(1, 2) for each in values)
        scale = match["scale"] or match["sign"]
        values = tuple(each * (SCALES[scale.lower()] if scale else 1) for each in values)
        unit = match["unit"] or match["signs"] or match["cur"]
        dimension, factor = UNITS[unit.lower()] if unit else ("", Fraction(1))
        if word and not dimension and values == (1,):
            return
        yield _number_of(match, values, dimension, factor)

    return read_number


def _number_of(
    match: re.Match[str], values: tuple[Fraction, ...], dimension: str, factor: Fraction
) -> tuple[Kind, str, frozenset[str], bool]:
    numeral = match["n"] or ""
    readings = [f"{shown_number(each * factor)} {dimension}".strip() for each in values]
    if not dimension:
        readings += [f"{shown_number(100 * each)} %" for each in values if 0 < each < 1]
        clock = re.fullmatch(r"([01]?\d|2[0-3])\.([0-5]\d)", match.group())
        readings += [f"T{int(clock[1]):02}:{clock[2]}"] if clock else []
    figures = frozenset(map(shown_number, values)) or frozenset({numeral})
    if dimension in MONEY:
        kind: Kind = "money"
    else:
        is_year = re.fullmatch(r"(?:19|20)\d\d", match.group())
        kind = "date" if is_year else "number"
        readings = [f"{numeral}-?-?"] if is_year else readings
    weak = not dimension and (bool(match["word"]) or figures == frozenset(["1"]))
    return kind, "|".join(readings) or numeral, figures, weak


# --- the reader ---

_Reader = Callable[[re.Match[str]], _Made]


@lru_cache(maxsize=8)
def _passes(language: str) -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """What is looked for one after the other; what one has taken the next does not see."""
    words = dict(NUMBER_WORDS.get(language, NUMBER_WORDS["en"]))
    word = any_of(words)
    short = any_of(SHORT_WEEKDAYS)
    day = rf"{_NO_DIGIT}(?P<d>\d{{1,2}}){_ORDINAL}"
    table: tuple[tuple[str, _Reader], ...] = (
        (r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号號]?", _read_dates),
        (rf"{_NO_DIGIT}(?P<y>\d{{4}})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)(?![\d-])", _read_dates),
        (
            rf"{_WITH_WEEKDAY}{_NO_DIGIT}(?P<d>\d\d?)\.\s?(?P<m>\d\d?)\.\s?(?P<y>\d{{4}}|\d\d)(?![\d.])",
            _read_dates,
        ),
        (
            rf"{_WITH_WEEKDAY}{_NO_DIGIT}(?P<d>\d\d?)\.(?P<m>\d\d?)(?P<decimal>)\.(?!\d)",
            _read_dates,
        ),
        (rf"{_NO_DIGIT}(?P<a>\d\d?)/(?P<b>\d\d?)(?:/(?P<y>\d{{4}}|\d\d))?(?![\d/])", _read_slashed),
        (
            rf"{_WITH_WEEKDAY}{day}(?={RANGE}(?:(?:{_WEEKDAY})\.?,?\s)?\d{{1,2}}{_ORDINAL}\s?"
            rf"(?:of |de )?(?P<m>{_MONTH})\b\.?{_YEAR})",
            _read_dates,
        ),
        (
            rf"{_WITH_WEEKDAY}{day}[\s-]?(?:of |de )?(?P<m>{_MONTH})(?!\w)\.?{_YEAR}",
            _read_dates,
        ),
        (
            rf"{_WITH_WEEKDAY}(?<!\w)(?P<m>{_MONTH})\.?\s{{1,3}}(?:the )?(?P<d>\d\d?)"
            rf"(?:st|nd|rd|th)?(?!\w|[.,:]\d)(?:{RANGE}(?P<d2>\d\d?)(?:st|nd|rd|th)?(?!\w))?{_YEAR}",
            _read_dates,
        ),
        (
            rf"(?<!\w)(?P<wd>{_WEEKDAY})\.?,?\s(?:the|den|dem|le|el)\s(?P<d>\d\d?){_ORDINAL}(?!\w)",
            _read_dates,
        ),
        (
            r"(?<!\w)(?P<pre>(?:in|since|until|till|by|from|of|this|last|next|early|late|mid|im|seit"
            rf"|ab|bis|en|depuis|de|desde|for|through|to)[ -])?(?P<m>{_MONTH})(?!\w)\.?{_YEAR}",
            _read_month,
        ),
        (rf"(?<!\w)(?P<wd>{_WEEKDAY})s?(?!\w)", _read_weekday),
        (r"(?P<wd>(?:星期|周|週)[一二三四五六日天]|[月火水木金土日]曜日)", _read_weekday),
        (rf"(?<!\w)({short})\.?\s?-\s?({short})(?!\w)", _read_short_weekdays),
        (rf"{_NO_DIGIT}(?P<y>\d{{3}}0)(?:s\b|er\b(?= Jahre)|\s?-\s?\d{{3}}9(?!\d))", _read_decade),
        (
            rf"(?<!\w)(?:[QT](?P<q>[1-4])(?!\w)|(?P<named>[1-4](?:st|nd|rd|th|\.)|{_QUARTER_WORDS})"
            r"[\s-](?:quarter|quartal\w?|trimestre)(?!\w))",
            _read_quarter,
        ),
        (
            rf"{_DAYPARTS}(?P<h>\d\d?)(?:時|点|點|时)(?!間|间)(?:(?P<mi>\d\d?)分|(?P<half>半))?",
            _read_time,
        ),
        (
            rf"{_NO_DIGIT}(?P<h>\d\d?)(?::(?P<mi>\d\d))?(?P<ranged>)(?={RANGE}\d\d?(?:[:.]\d\d)?"
            rf"\s?{_MARK})",
            _read_time,
        ),
        (rf"{_NO_DIGIT}(?P<h>\d\d?)\s?h\s?(?P<mi>\d\d)(?!\d|\s?m)", _read_time),
        (rf"(?<![\w.,:-])(?P<h>\d\d?)(?::(?P<mi>\d\d)(?::\d\d)?)(?:\s?{_MARK})?(?!\d)", _read_time),
        (rf"(?<![\w.,:])(?P<h>\d\d?)[.:](?P<mi>\d\d)\s?{_MARK}", _read_time),
        (
            rf"(?<![\w.,:])(?P<h>\d{{1,3}})\s?{_HOURS}(?:,?\s(?:and|und|et|y)\s|,?\s?)"
            rf"(?P<mi>\d{{1,3}})\s?{_MINUTES}(?!\w)",
            _read_duration,
        ),
        (rf"(?<![\w.,:])(?P<h>\d\d?)\s?(?!h(?:ours?|rs?)\b){_MARK}(?!\w)", _read_time),
        (
            r"\b(?:noon|midday|midnight|mittag|mitternacht|midi|minuit|mediodía|medianoche)\b",
            _read_clock_word,
        ),
        (r"(?<![\w.,+])(?:\+\d|\(?0\d)[\d ()/-]{4,20}\d(?![\d.,]\d|\d)", _read_phone),
        (r"(?<![\w.,-])\d{1,20}(?:-\d{1,20})+(?![\w-])", _read_code_number),
        (
            rf"(?<!\w)(?P<label>{_LABELS})s?\s(?P<n>\d{{1,5}}(?:\.\d{{1,4}}){{0,4}})(?!\w)",
            _read_label,
        ),
        (
            r"(?<![\w.-])(?-i:[A-Z])(?:[A-Za-z]{0,20}-\d|[A-Za-z]{0,9}\d)[\w-]{0,20}",
            _read_figured_name,
        ),
        (
            r"(?:(?<!\w)(?P<cur>US\$|[$€£¥₹]|(?:EUR|USD|GBP|CHF|JPY|INR|PLN|CNY|Rs)(?=\.?\s))\.?\s?)?"
            r"(?:(?<![A-Za-uw-zÀ-ɏ_\d])(?<!\d[.,'])(?:(?:(?P<whole>\d{1,4})\s)?"
            r"(?P<frac>\d{1,2}/[1-9]\d?)(?![\d/])|(?P<n>\d+(?:[.,']\d+)*))"
            rf"|(?<!\w)(?P<word>{word})(?:-(?P<one>{word}))?(?!\w))"
            r"(?:[\s-](?P<part>thirds|quarters|viertel)(?!\w))?"
            rf"(?:[\s-]?(?:(?P<scale>{_LATIN_SCALES}|(?-i:[kKMB])|(?(cur)[mb]|(?!)))(?!\w)|(?P<sign>[千万萬亿億])))?"
            rf"(?:(?:\s|-)?(?:of\s|de\s|d')?(?:an?\s|eine[nrms]?\s|une?\s)?"
            rf"(?:(?P<unit>{_LATIN_UNITS})(?![^\W\d_])|(?P<signs>{_SIGN_UNITS})))?"
            r"(?P<ahalf>\sand\sa\shalf(?!\w)|\set\sdemie?(?!\w)|\sy\smedia(?!\w))?",
            _number_reader(words),
        ),
    )
    return tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in table)


_FENCE = re.compile(
    r"^[ ]{0,3}(```|~~~)[^\n]{0,200}\n(?P<code>.*?)^[ ]{0,3}\1", re.MULTILINE | re.DOTALL
)
_INLINE = re.compile(r"`(?P<code>[^`\n]{1,300})`")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_QUOTE = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^“”\n]{1,1000})”|„([^„“”\n]{1,1000})[“”]|«([^«»\n]{1,1000})»"
    r"|「([^「」\n]{1,1000})」"
)
_TOKEN = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_TITLE = re.compile(r"(?<!\w)(?:Mr|Mrs|Ms|Dr|Prof|St|Mme|Herr|Frau|Señora?|Sra?)\.?\s$")
_JOINS = re.compile(r"\w'? \Z|(?<!\w)(?:Mr|Mrs|Ms|Dr|Prof|St|[A-Z])\. \Z")
_OPENS = re.compile(r"(?:\A|[.!?:;\n|>•\"“„«»(\[{/*#_\-]|\d[.)])\s*[\"“„«(\[*_]*\Z")
_ENGLISH = frozenset(FUNCTION_WORDS["en"].split())


def read(text: str) -> tuple[Statement, ...]:
    """The statements of a text, in their order; places count in the text as it is given."""
    found = [*_literals(text)]
    plain = blanked(text, [(each.start, each.end) for each in found])
    folded, at = _folded(plain)
    language = tell_language(folded).language or "en"
    found += (
        Statement("quote", text[at[m.start()] : at[m.end() - 1] + 1], words_of(m.group()),
                  at[m.start()], at[m.end() - 1] + 1)
        for m in _QUOTE.finditer(folded)
    )  # fmt: skip

    def take(match: re.Match[str]) -> str:
        if match.end() == match.start():
            return ""
        start, end = at[match.start()], at[match.end() - 1] + 1
        made = list(reader(match))
        shown = text[start:end].strip()
        start += len(text[start:end]) - len(text[start:end].lstrip())
        for kind, value, figures, weak in made:
            found.append(Statement(kind, shown, value, start, start + len(shown), figures, weak))
        return "\0" * len(match.group()) if made else match.group()

    rest = folded
    reader: _Reader
    for pattern, reader in _passes(language):  # noqa: B007, `take` reads it
        rest = pattern.sub(take, rest)
    for start, end, weak in _names(rest, language):
        first, last = at[start], at[end - 1] + 1
        shown = text[first:last]
        found.append(Statement("name", shown, words_of(shown), first, last, weak=weak))
    return tuple(sorted(found, key=lambda each: (each.start, each.end)))


def words_of(text: str) -> str:
    """The letters and digits of a text, in lower case and without accents, with single spaces."""
    plain = unicodedata.normalize("NFKD", normalised(text).casefold())
    return " ".join(re.findall(r"[^\W_]+", re.sub(r"[\u0300-\u036f']", "", plain)))


def _literals(text: str) -> Iterator[Statement]:
    taken = bytearray(len(text))
    searches: tuple[tuple[Kind, Iterator[tuple[int, int]]], ...] = (
        ("code", (m.span() for m in _FENCE.finditer(text))),
        ("code", (m.span() for m in _INLINE.finditer(text))),
        ("url", iter(urls(text))),
        ("url", (m.span() for m in _MAIL.finditer(text))),
    )
    for kind, spans in searches:
        for start, end in spans:
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                shown = text[start:end]
                yield Statement(kind, shown, _literal_value(kind, shown), start, end)


def _literal_value(kind: str, shown: str) -> str:
    if kind == "code":
        lines = [line.rstrip() for line in shown.strip("`~").split("\n")]
        return "\n".join(lines[1:] if len(lines) > 1 else lines).strip()
    bare = re.sub(r"^(?:https?://|mailto:)?(?:www\.)?", "", shown, flags=re.IGNORECASE)
    return bare.rstrip("/").casefold()


def _names(text: str, language: str) -> Iterator[tuple[int, int, bool]]:
    """The places of capitalised words that stand where an ordinary word has no capital.

    German writes all nouns so: there two in a row are a name, and what follows a title.
    """
    tokens = list(_TOKEN.finditer(text))
    lower = {m.group() for m in tokens if m.group().islower()}
    line, ordinary = (0, -1), False
    run: list[re.Match[str]] = []
    for token in [*tokens, None]:
        if (
            token
            and token.group()[0].isupper()
            and (not run or _JOINS.search(text[max(0, run[-1].end() - 5) : token.start()]))
        ):
            run.append(token)
            continue
        if run:
            if run[0].start() >= line[1]:
                start = text.rfind("\n", 0, run[0].start()) + 1
                stop = text.find("\n", start)
                line = (start, len(text) if stop < 0 else stop)
                ordinary = _is_title_or_shouted(text[line[0] : line[1]])
            if not (ordinary and language != "de"):
                yield from _name_in(run, text, language, lower)
        run = [token] if token and token.group()[0].isupper() else []


def _name_in(
    run: list[re.Match[str]], text: str, language: str, lower: set[str]
) -> Iterator[tuple[int, int, bool]]:
    before = text[max(0, run[0].start() - 12) : run[0].start()]
    titled = bool(_TITLE.search(before))
    if not titled and _OPENS.search(before):
        run = run[1:]
    while run and (
        run[0].group().lower().split("'")[0] in _ENGLISH or _TITLE.search(f"{run[0].group()} ")
    ):
        titled = titled or run[0].group().lower() not in _ENGLISH
        run = run[1:]
    words = [token.group().removesuffix("'s") for token in run]
    if not run or all(word.lower() in lower for word in words):
        return
    if language == "de" and len(run) < 2 and not titled and not words[0].isupper():
        return
    end = run[-1].end() - 2 * run[-1].group().endswith("'s")
    yield run[0].start(), end, all(len(word) < 2 or word.isupper() for word in words)


def _is_title_or_shouted(line: str) -> bool:
    words = [word for word in _TOKEN.findall(line[:2000]) if len(word) > 3]
    capitals = sum(word[0].isupper() for word in words)
    shouted = sum(word.isupper() for word in words)
    closed = line.rstrip()[-1:] in ".!?…,;"
    return len(words) > 1 and (
        shouted > 0.6 * len(words)
        or (not closed and len(words) > 2 and capitals > 0.7 * len(words))
    )


def is_same(one: Statement, other: Statement) -> bool:
    """True when two statements say the same in whatever notation, as far as both say it."""
    if one.readings & other.readings:
        return True
    if one.is_bare or other.is_bare:
        return bool(one.figures & other.figures)
    if one.kind == other.kind == "date":
        return any(_agree(a, b) for a in one.readings for b in other.readings)
    return any(_rounds(a, b) for a in one.readings for b in other.readings)


def _agree(one: str, other: str) -> bool:
    """True when two dates, of which each may leave a part out, can be the same one."""
    if "-" not in one or "-" not in other:
        return False
    pairs = list(zip(*(re.split("[- ]", f"{each} ?" if " " not in each else each)
                       for each in (one, other)), strict=False))  # fmt: skip
    both = [(a, b) for a, b in pairs if "?" not in (a, b)]
    return bool(both) and all(a == b for a, b in both)


_CONVERTED = 0.05
"""The share by which a value may be rounded when it is given in a unit of another system."""


def _rounds(one: str, other: str) -> bool:
    (a, _, unit), (b, _, second) = one.partition(" "), other.partition(" ")
    if {unit, second} == {"°C", "°F"}:
        celsius, fahrenheit = (float(a), float(b)) if unit == "°C" else (float(b), float(a))
        return abs(celsius * 1.8 + 32 - fahrenheit) <= 2
    if unit == second or unit.lstrip("~") != second.lstrip("~") or not unit:
        return False
    return abs(float(a) - float(b)) <= _CONVERTED * max(abs(float(a)), abs(float(b)))
