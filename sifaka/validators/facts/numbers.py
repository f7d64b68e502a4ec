"""Numbers with their units, in digits of any script and in words."""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

from sifaka.text.prose import Span
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.number_words import in_han, in_roman, in_words
from sifaka.validators.facts.units import SPACE, UNIT, keys_of, unit_after, unit_of
from sifaka.validators.facts.vocabulary import SCALES

_CURRENCY = r"US\$|[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK)"
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\d])"
    rf"|\d{{1,3}}(?:[{SPACE}’']\d{{3}})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,]\d+)?"
)
_NUMBER = re.compile(
    rf"(?P<money>(?:{_CURRENCY})[{SPACE}]?)?(?P<sign>(?<![\w.,)\]’'])[-−])?"
    rf"(?P<digits>{_DIGITS})(?:/(?P<over>\d+)(?![\d/]))?(?P<half>[½⅓¼¾])?"
)
_PHONE = re.compile(
    r"(?<![\w.])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,7}){1,5}(?![\w])"
)
_CODED = re.compile(r"(?<![\w#])[^\W_]\w*(?:[.:-]\w+)*")
_DIGIT = re.compile(r"\d")
DIGITS = re.compile(r"\d\d*")  # a single digit in front makes it quick to search
_BLANK = re.compile(r"\s")
_BEFORE_DIGITS = 5
"""Characters of a number before its digits at most: a currency, a space and a sign."""
_AFTER = re.compile(rf"[{SPACE}]?(?P<scale>[a-zA-ZäöüéóíãõñÄÖÜ]+|[万萬亿億千百]{{1,2}})")
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th|ème|er|re|e|º|ª)\b")
_DECADE = re.compile(r"s\b")
_SHORT_SCALE = re.compile(r"[kKM]\b|(?:bn|tn|m)\b")
_VULGAR = {"½": Fraction(1, 2), "⅓": Fraction(1, 3), "¼": Fraction(1, 4), "¾": Fraction(3, 4)}


def plain_digits(text: str) -> str:
    """The text with ASCII digits in place of those of other scripts; offsets stay."""
    if text.isascii():
        return text
    return _DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), text)


def at_digits(pattern: re.Pattern[str], text: str, *, before: int = 0) -> Iterator[re.Match[str]]:
    """What `pattern.finditer` finds; the text is looked at only where it has digits.

    Args:
        pattern: It matches from the first digit of a run on, or from a little before it.
        text: The text.
        before: The most characters that a match has before its first digit.
    """
    end = 0
    for run in DIGITS.finditer(text):
        start = run.start()
        for place in range(max(end, start - before), start + 1) if before else (start,):
            if place >= end and (match := pattern.match(text, place)):
                yield match
                end = match.end()
                break


def _stretches(text: str) -> Iterator[Span]:
    """The stretches between white space that have a digit."""
    end = 0
    while digit := _DIGIT.search(text, end):
        start = digit.start()
        before = text[end:start]
        if before and not before[-1].isspace():
            start -= len(before.rsplit(None, 1)[-1])
        after = _BLANK.search(text, start)
        end = after.start() if after else len(text)
        yield start, end


def numbers(text: str, language: str) -> Iterator[Fact]:
    """The numbers of a text in which everything else that has digits is blanked.

    Args:
        text: The text, with ASCII digits.
        language: Its ISO 639-1 code, which decides if a comma groups or begins the decimals.
    """
    taken = bytearray(len(text) + 1)
    for fact in (*_phones(text), *_coded(text, language)):
        if not any(taken[fact.start : fact.end]):
            taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
            yield fact
    for match in at_digits(_NUMBER, text, before=_BEFORE_DIGITS):
        if taken[match.start("digits")]:
            continue
        fact = _number(text, match, language)
        taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
        yield fact
    yield from in_words(text, language, taken)
    yield from in_han(text)
    yield from in_roman(text)


def _phones(text: str) -> Iterator[Fact]:
    for match in at_digits(_PHONE, text, before=1):
        shown = match.group()
        digits = re.sub(r"\D", "", shown)
        grouped = re.fullmatch(r"\d{1,3}(?:[ .]\d{3})+", shown)
        years = re.fullmatch(r"\d{4}-\d{2,4}", shown)
        if len(digits) >= 7 and not grouped and not years and "." not in shown:
            yield Fact.number(match.start(), match.end(), text, (("code", digits),), coded=True)


def _coded(text: str, language: str) -> Iterator[Fact]:
    for match in chain.from_iterable(_CODED.finditer(text, *span) for span in _stretches(text)):
        start, shown = match.start(), match.group().rstrip(".:_-")
        if not _DIGIT.search(shown):
            continue
        lead = re.match(r"[^\W\d_]{2,}-(?=\d)", shown)
        if lead and not shown[: lead.end() - 1].isupper():
            start, shown = start + lead.end(), shown[lead.end() :]
        if shown.isascii() and _is_code(shown, language):
            key = re.sub(r"^v(?=\d)", "", shown.casefold())
            yield Fact.number(start, start + len(shown), text, (("code", key),), coded=True)


def _is_code(token: str, language: str) -> bool:
    if re.fullmatch(r"v?\d+(?:\.\d++){2,}+[\w-]*", token):
        return not re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", token)
    if re.fullmatch(r"\d+(?::[\d]+)+", token):
        return True
    if token.startswith("#") or re.match(r"0x[0-9a-fA-F]", token):
        return True
    if re.fullmatch(r"v\d+(?:\.\d+)*", token):
        return True
    if not re.search(r"[^\W\d_]", token) or re.match(r"(?:USD|EUR|GBP|CHF)\d", token):
        return False
    if re.fullmatch(r"\d[\d.,]*(?:-)?[^\W\d_]+(?:-\w+)*", token):
        number = re.match(r"[\d.,]*", token)
        rest = token[number.end() if number else 0 :]
        if rest.startswith("-"):
            return rest[1:].isupper() and len(rest) < 5
        if unit_of(rest) or rest in {"k", "K", "m", "x", "bn", "M", "tn", "am", "pm", "s"}:
            return False
        return not _ORDINAL_END.fullmatch(rest)
    return True


def _number(text: str, match: re.Match[str], language: str) -> Fact:
    values = readings(match["digits"], language)
    start, end = match.start(), match.end()
    if match["over"]:
        values = [v / int(match["over"]) for v in values if int(match["over"])] or values
    if match["half"]:
        values = [v + _VULGAR[match["half"]] for v in values]
    money = (match["money"] or "").strip()
    if money == "" and match["money"] is not None:
        start += len(match["money"])
    year = re.fullmatch(r"\d{4}", match["digits"]) is not None
    suffix = (_DECADE.match(text, end) if year else None) or _ORDINAL_END.match(text, end)
    if suffix is not None:
        keys = tuple(keys_of(values, "", Fraction(1)))
        return Fact.number(start, suffix.end(), text, keys, value=values[0])
    scale, end = _scale(text, end, bool(money))
    values = [value * scale for value in values]
    if match["sign"]:
        values = [-value for value in values]
    if money:
        found_unit = unit_of(money.lower()) or unit_of(money)
        after = UNIT.match(text, end)
        if after and unit_of(after["unit"]) == found_unit:
            end = after.end("unit")
        dimension, factor = found_unit or ("", Fraction(1))
    else:
        dimension, factor, end = unit_after(text, end)
    return Fact.number(
        start,
        end,
        text,
        tuple(keys_of(values, dimension, factor)),
        value=values[0],
        unit=dimension,
    )


def readings(digits: str, language: str) -> list[Fraction]:
    """The values that digits with separators may have."""
    plain = re.sub(rf"[{SPACE}’']", "", digits)
    comma_decimal = language not in {"en", "zh", "ja", "ko", "th", "", "unknown"}
    if "," in plain and "." in plain:
        decimal = max(plain.rfind(","), plain.rfind("."))
        whole = re.sub(r"[.,]", "", plain[:decimal])
        return [Fraction(f"{whole}.{plain[decimal + 1 :]}")]
    for mark in ",.":
        if mark not in plain:
            continue
        if plain.count(mark) > 1:
            return [Fraction(plain.replace(mark, ""))]
        grouped = re.fullmatch(rf"\d{{1,3}}\{mark}\d{{3}}", plain) and not plain.startswith("0")
        decimal = Fraction(plain.replace(mark, "."))
        if not grouped:
            return [decimal]
        whole = Fraction(plain.replace(mark, ""))
        groups = (mark == ",") != comma_decimal
        if language in {"", "unknown"} and mark == ".":
            return [decimal, whole]
        return [whole] if groups else [decimal]
    return [Fraction(plain)]


def _scale(text: str, end: int, money: bool) -> tuple[int, int]:
    after = _SHORT_SCALE.match(text, end)
    if after and (after.group() != "m" or money):
        size = {"k": 3, "K": 3, "M": 6, "m": 6, "bn": 9, "tn": 12}[after.group()]
        return 10**size, after.end()
    after = _AFTER.match(text, end)
    if after and (size := SCALES.get(after["scale"].lower())):
        return size, after.end("scale")
    if after and len(after["scale"]) == 2 and (size := SCALES.get(after["scale"][0])):
        return size, after.start("scale") + 1
    return 1, end
