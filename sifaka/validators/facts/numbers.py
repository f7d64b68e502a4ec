"""Numbers with their units, in digits of any script and in words."""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction

from sifaka.validators.facts.fact import Fact, Key
from sifaka.validators.facts.vocabulary import (
    FRACTIONS,
    HUNDREDS,
    JOINERS,
    KELVIN,
    ORDINALS,
    SCALES,
    compound,
    number_words,
    unit_of,
    units,
)

_SPACE = "\u00a0\u202f\u2009 "
_CURRENCY = r"US\$|[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK)"
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\d])"
    rf"|\d{{1,3}}(?:[{_SPACE}’']\d{{3}})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,]\d+)?"
)
_NUMBER = re.compile(
    rf"(?P<money>(?:{_CURRENCY})[{_SPACE}]?)?(?P<sign>(?<![\w.,)\]’'])[-−])?"
    rf"(?P<digits>{_DIGITS})(?:/(?P<over>\d+)(?![\d/]))?(?P<half>[½⅓¼¾])?"
)
_PHONE = re.compile(r"(?<![\w.])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,7}){1,5}(?![\w])")
_CODED = re.compile(r"#?(?<![\w#])(?=[\w.:_-]*\d)[^\W_][\w]*(?:[.:_-]\w+)*", re.UNICODE)
_AFTER = re.compile(
    rf"[{_SPACE}]?(?P<scale>[a-zA-ZäöüéóíãõñÄÖÜ]+|[万萬亿億千百]{{1,2}})\.?(?:[{_SPACE}](?:d['’]|de |di |of )?)?(?=.|$)"
)
_UNIT = re.compile(
    rf"[{_SPACE}-]?(?:d['’]|de |di )?(?P<unit>°[{_SPACE}]?[CFK]\b|[%％‰]|[$€£¥₹]|[A-Za-zµμ]+[²³](?!\w)"
    rf"|[^\W\d_]+(?:[ ](?:cent|franc|francs|ciento|cento|sterling)\b)?)(?:/(?P<per>[^\W\d_]+))?"
)
_CJK_UNITS = ("公里", "公斤", "千克", "厘米", "毫米", "英里", "美元", "欧元", "日元", "小时", "分钟",
              "元", "米", "克", "升", "秒")  # fmt: skip
_HAN = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "兩": 2}
_HAN_SIZES = {"十": 10, "百": 100, "千": 1000}
_HAN_RUN = re.compile("[零〇一二三四五六七八九两兩十百千万萬亿億]{2,}")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ROMAN = re.compile(r"(?<=[^\W\d_] )(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b(?![’'\-.]\w)")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th|ème|er|re|e|º|ª)\b")
_SMALLEST_SURE = 13
_VULGAR = {"½": Fraction(1, 2), "⅓": Fraction(1, 3), "¼": Fraction(1, 4), "¾": Fraction(3, 4)}


def plain_digits(text: str) -> str:
    """The text with ASCII digits in place of those of other scripts; offsets stay."""
    if text.isascii():
        return text
    return re.sub(r"[^\x00-\x7f]", lambda m: _digit(m.group()), text)


def _digit(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


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
    for match in _NUMBER.finditer(text):
        if taken[match.start("digits")]:
            continue
        fact = _number(text, match, language)
        taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
        yield fact
    yield from _in_words(text, language, taken)
    yield from _in_han(text)
    yield from _roman(text)


def _phones(text: str) -> Iterator[Fact]:
    for match in _PHONE.finditer(text):
        shown = match.group()
        digits = re.sub(r"\D", "", shown)
        grouped = re.fullmatch(r"\d{1,3}(?:[ .]\d{3})+", shown)
        years = re.fullmatch(r"\d{4}-\d{2,4}", shown)
        if len(digits) >= 7 and not grouped and not years and "." not in shown:
            yield _of("number", match.start(), match.end(), text, (("code", digits),), coded=True)


def _coded(text: str, language: str) -> Iterator[Fact]:
    for match in _CODED.finditer(text):
        start, shown = match.start(), match.group().rstrip(".:_-")
        lead = re.match(r"[^\W\d_]{2,}-(?=\d)", shown)
        if lead and not shown[: lead.end() - 1].isupper():
            start, shown = start + lead.end(), shown[lead.end() :]
        if shown.isascii() and _is_code(shown, language):
            key = re.sub(r"^v(?=\d)", "", shown.casefold())
            yield _of("number", start, start + len(shown), text, (("code", key),), coded=True)


def _is_code(token: str, language: str) -> bool:
    if re.fullmatch(r"v?\d+(?:\.\d+){2,}[\w-]*", token):
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
    decade = re.compile(r"s\b").match(text, end) if re.fullmatch(r"\d{4}", match["digits"]) else None
    if decade or (ordinal := _ORDINAL_END.match(text, end)):
        found = decade or ordinal
        assert found is not None
        return _of("number", start, found.end(), text, tuple(_keys(values, "", Fraction(1))),
                   value=values[0])  # fmt: skip
    scale, end = _scale(text, end, bool(money))
    values = [value * scale for value in values]
    if match["sign"]:
        values = [-value for value in values]
    if money:
        found_unit = unit_of(money.lower()) or unit_of(money)
        after = _UNIT.match(text, end)
        if after and unit_of(after["unit"]) == found_unit:
            end = after.end("unit")
        dimension, factor = found_unit or ("", Fraction(1))
    else:
        dimension, factor, end = _unit(text, end)
    return _of("number", start, end, text, tuple(_keys(values, dimension, factor)),
               value=values[0], unit=dimension)  # fmt: skip


def readings(digits: str, language: str) -> list[Fraction]:
    """The values that digits with separators may have."""
    plain = re.sub(rf"[{_SPACE}’']", "", digits)
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
    after = re.compile(r"[kKM]\b|(?:bn|tn|m)\b").match(text, end)
    if after and (after.group() != "m" or money):
        size = {"k": 3, "K": 3, "M": 6, "m": 6, "bn": 9, "tn": 12}[after.group()]
        return 10**size, after.end()
    after = _AFTER.match(text, end)
    if after and (size := SCALES.get(after["scale"].lower())):
        return size, after.end("scale")
    if after and len(after["scale"]) == 2 and (size := SCALES.get(after["scale"][0])):
        return size, after.start("scale") + 1
    return 1, end


def _unit(text: str, end: int) -> tuple[str, Fraction, int]:
    for name in _CJK_UNITS:
        if text.startswith(name, end):
            dimension, factor = units()[name]
            return dimension, factor, end + len(name)
    after = _UNIT.match(text, end)
    if after is None:
        return "", Fraction(1), end
    word = after["unit"]
    if word.startswith("°"):
        return f"°{word[-1]}", Fraction(1), after.end("unit")
    found = unit_of(word)
    if found is None and " " in word:
        word = word.split()[0]
        found = unit_of(word)
    if found is None:
        square = re.compile(r"[ ](?:square|Quadrat|cubic)?[ ]?").match(text, end)
        if word.lower() in {"square", "cubic"} and square:
            return "", Fraction(1), end
        return "", Fraction(1), end
    stop = after.start("unit") + len(word)
    if re.compile(r"[ ](?:carr|quadrat|cuadrad|quadrad)").match(text, stop):
        return "", Fraction(1), stop
    if after["per"] and (per := unit_of(after["per"])):
        return f"{found[0]}/{per[0]}", found[1] / per[1], after.end()
    return found[0], found[1], stop


def _keys(values: list[Fraction], dimension: str, factor: Fraction) -> Iterator[Key]:
    for value in values:
        if dimension == "°C":
            yield (KELVIN, value)
        elif dimension == "°F":
            yield (KELVIN, (value - 32) * 5 / 9)
        else:
            yield (dimension, value * factor)


def _in_words(text: str, language: str, taken: bytearray) -> Iterator[Fact]:
    small = number_words(language)
    tokens = [(m.start(), m.end(), m.group().lower()) for m in _WORD.finditer(text)]
    at = 0
    while at < len(tokens):
        value, used, weight = _words_from(tokens, at, small, language, text)
        if at and tokens[at - 1][2] in {"halb", "past"}:
            value = None  # a time of day
        if value is None:
            ordinal = ORDINALS.get(tokens[at][2])
            if ordinal and ordinal > 2:
                start, end, _ = tokens[at]
                yield _of("number", start, end, text, (("", Fraction(ordinal)),),
                          value=Fraction(ordinal), weak=True)  # fmt: skip
            at += 1
            continue
        start, end = tokens[at][0], tokens[at + used - 1][1]
        at += used
        if taken[start]:
            continue
        dimension, factor, end = _unit(text, end)
        bare = not dimension and value < _SMALLEST_SURE and weight < 2
        yield _of("number", start, end, text, tuple(_keys([value], dimension, factor)),
                  value=value, unit=dimension, weak=bare or value == 1)  # fmt: skip


def _words_from(
    tokens: list[tuple[int, int, str]], at: int, small: dict[str, int] | object, language: str,
    text: str,
) -> tuple[Fraction | None, int, int]:  # fmt: skip
    """The number in words that begins at a token, its number of tokens, and of number words."""
    total = current = 0
    used = words = 0
    opened = False
    n = at
    while n < len(tokens) and (n == at or not text[tokens[n - 1][1] : tokens[n][0]].strip()):
        word = tokens[n][2]
        value = _small_value(word, small, language)
        if value is not None and (not opened or (current % 100 == 0 and value < 100)
                                  or (current % 100 >= 20 and current % 10 == 0 and value < 10)):  # fmt: skip
            if word in {"dozen", "dozens"} and not opened:
                break
            current += value
            opened = True
        elif opened and word in {"dozen", "dozens"}:
            current *= 12
        elif word in HUNDREDS and (opened or language in {"fr", "es", "it", "pt", "de"}):
            current = max(current, 1) * 100
            opened = True
        elif word == "hundred" or (word == "thousand" and n > at):
            if not (n == at and at and tokens[at - 1][2] in {"a", "one"}):
                break
            current, opened = 100, True
        elif word in SCALES and opened:
            total += max(current, 1) * SCALES[word]
            current = 0
        elif opened and word in FRACTIONS and words == 1:
            return Fraction(current, FRACTIONS[word]), n - at + 1, 2
        elif opened and word in JOINERS and n + 1 < len(tokens) and (current >= 100 or total or language in {"es", "pt"}) and current % 10 == 0:  # fmt: skip
            following = _small_value(tokens[n + 1][2], small, language)
            if following is None or following >= 100 or (current < 100 and following > 9):
                break
            n += 1
            continue
        else:
            break
        n += 1
        words += 1
        used = n - at
    if not used or not (opened or total):
        return None, 0, 0
    return Fraction(total + current), used, words


def _small_value(word: str, small: object, language: str) -> int | None:
    table: dict[str, int] = small  # type: ignore[assignment]
    if word in table:
        return table[word]
    if "-" in word:
        ten, _, one = word.partition("-")
        if table.get(ten, 0) >= 20 and 0 < table.get(one.removeprefix("et-"), 0) < 20:
            return table[ten] + table[one.removeprefix("et-")]
        return None
    return compound(word, language)


def _in_han(text: str) -> Iterator[Fact]:
    for match in _HAN_RUN.finditer(text):
        value = _han_value(match.group())
        before = text[match.start() - 1 : match.start()]
        if value is None or before.isdigit():
            continue
        dimension, factor, end = _unit(text, match.end())
        yield _of("number", match.start(), end, text, tuple(_keys([value], dimension, factor)),
                  value=value, unit=dimension)  # fmt: skip


def _han_value(run: str) -> Fraction | None:
    total = section = digit = 0
    sized = False
    for character in run:
        if character in _HAN:
            digit = _HAN[character]
        elif character in _HAN_SIZES:
            section += (digit or 1) * _HAN_SIZES[character]
            digit, sized = 0, True
        else:
            total = (total + section + digit) * SCALES[character]
            section, digit, sized = 0, 0, True
    return Fraction(total + section + digit) if sized and total + section + digit else None


def _roman(text: str) -> Iterator[Fact]:
    for match in _ROMAN.finditer(text):
        shown = match.group()
        before = _WORD.search(text, max(0, text.rfind(" ", 0, match.start() - 1)))
        if not shown or (len(shown) == 1 and shown not in "IVX"):
            continue
        if not _numbers_after(before, shown):
            continue
        value = sum(
            -_ROMAN_VALUES[c] if shown[n + 1 : n + 2] and _ROMAN_VALUES[shown[n + 1]] > _ROMAN_VALUES[c]
            else _ROMAN_VALUES[c] for n, c in enumerate(shown)
        )  # fmt: skip
        # The name before is a part of it: Charles V is not Philip V.
        name = before.group().casefold() if before else ""
        yield _of("number", match.start(), match.end(), text, (("roman", name, value),), coded=True)


def _numbers_after(word: re.Match[str] | None, roman: str) -> bool:
    """True for a word that a Roman numeral may follow: a name, or `chapter` and its like."""
    if word is None or word.group() == "I":
        return False
    if roman == "I" and word.group() == "War":
        return True
    if word.group().casefold() in {"chapter", "part", "volume", "book", "act", "phase", "type",
                                   "section", "article", "stage", "class", "level", "kapitel"}:  # fmt: skip
        return True
    return roman != "I" and word.group()[0].isupper() and len(word.group()) > 2


def _of(
    kind: str, start: int, end: int, text: str, keys: tuple[Key, ...], *,
    value: Fraction | None = None, unit: str = "", weak: bool = False, coded: bool = False,
) -> Fact:  # fmt: skip
    return Fact(kind="number", shown=text[start:end].strip(), start=start, end=end, keys=keys,
                value=value, unit=unit, weak=weak, coded=coded)  # fmt: skip
