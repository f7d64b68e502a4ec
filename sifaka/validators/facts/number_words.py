"""Numbers in words, in Chinese characters and in Roman numerals."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain

from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.units import UNSPACED, keys_of, unit_after
from sifaka.validators.facts.vocabulary import (
    FRACTIONS,
    HUNDREDS,
    JOINERS,
    ORDINALS,
    SCALES,
    compound,
    number_words,
    openings,
)

_HAN = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "兩": 2}
_HAN_SIZES = {"十": 10, "百": 100, "千": 1000}
_HAN_RUN = re.compile("[零〇一二三四五六七八九两兩十百千万萬亿億]{2,}")
_HAN_DIGIT = re.compile(
    "(?<![零〇一二三四五六七八九两兩十百千万萬亿億])[一二三四五六七八九两兩]"
    rf"(?={'|'.join(UNSPACED)})"
)
"""A single character counts only before a unit: most of them are parts of other words too."""
_HAN_ANY = re.compile("[零〇一二三四五六七八九两兩十百千万萬亿億]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ROMAN = re.compile(r"(?<=[^\W\d_] )(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b(?![’'\-.]\w)")
_ROMAN_LETTER = re.compile("[IVXLC]")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_SMALLEST_SURE = 13
"""Smaller ones may only count what is listed anyway."""
_TWENTIES = frozenset({60, 80})
"""French counts on from these to 79 and 99."""
_LONGEST = 120
"""Characters of a number in words."""
_A = re.compile(r"\b(?:a|one)[ ]$", re.IGNORECASE)
_DIVIDED = frozenset(
    [
        "chapter",
        "part",
        "volume",
        "book",
        "act",
        "phase",
        "type",
        "section",
        "article",
        "stage",
        "class",
        "level",
        "kapitel",
    ]
)
"""Words that a Roman numeral follows."""


def in_words(text: str, language: str, taken: bytearray) -> Iterator[Fact]:
    """The numbers in words outside the places that are taken."""
    small = number_words(language)
    done = 0
    for opening in openings(text, language):
        if opening.start() < done or taken[opening.start()]:
            continue
        around = text[opening.start() : opening.start() + _LONGEST]
        tokens = [
            (opening.start() + m.start(), opening.start() + m.end(), m.group().lower())
            for m in _WORD.finditer(around)
        ]
        before = text[max(0, opening.start() - 6) : opening.start()].lower().split()
        if before and before[-1] in {"halb", "past"}:
            continue  # a time of day
        value, used, weight = _words_from(tokens, 0, small, language, text)
        if value is None:
            ordinal = ORDINALS.get(tokens[0][2])
            if ordinal and ordinal > 2:
                start, end, _ = tokens[0]
                yield Fact.number(
                    start,
                    end,
                    text,
                    (("", Fraction(ordinal)),),
                    value=Fraction(ordinal),
                    weak=True,
                )
            continue
        start, end = tokens[0][0], tokens[used - 1][1]
        done = end
        dimension, factor, end = unit_after(text, end)
        bare = not dimension and value < _SMALLEST_SURE and weight < 2
        yield Fact.number(
            start,
            end,
            text,
            tuple(keys_of([value], dimension, factor)),
            value=value,
            unit=dimension,
            weak=bare or value == 1,
        )


def _words_from(
    tokens: list[tuple[int, int, str]],
    at: int,
    small: Mapping[str, int],
    language: str,
    text: str,
) -> tuple[Fraction | None, int, int]:
    """The number in words that begins at a token, its number of tokens, and of number words."""
    total = current = 0
    used = words = 0
    opened = False
    n = at
    while n < len(tokens) and (n == at or not text[tokens[n - 1][1] : tokens[n][0]].strip()):
        word = tokens[n][2]
        value = _small_value(word, small, language)
        if value is not None and (
            not opened
            or (current % 100 == 0 and value < 100)
            or (current % 100 >= 20 and current % 10 == 0 and value < 10)
            or (language == "fr" and current % 100 in _TWENTIES and 10 <= value < 20)
        ):
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
            if n != at or not _A.search(text[max(0, tokens[0][0] - 5) : tokens[0][0]]):
                break
            current, opened = 100, True
        elif word in SCALES and opened:
            total += max(current, 1) * SCALES[word]
            current = 0
        elif opened and word in FRACTIONS and words == 1:
            return Fraction(current, FRACTIONS[word]), n - at + 1, 2
        elif (
            opened
            and word in JOINERS
            and n + 1 < len(tokens)
            and (current >= 100 or total or language in {"es", "fr", "pt"})
            and current % 10 == 0
        ):
            following = _small_value(tokens[n + 1][2], small, language)
            most = 11 if language == "fr" and current in _TWENTIES else 9
            if following is None or following >= 100 or (current < 100 and following > most):
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


def _small_value(word: str, table: Mapping[str, int], language: str) -> int | None:
    if word in table:
        return table[word]
    if "-" in word:
        ten, _, one = word.rpartition("-")
        ten = ten.removesuffix("-et")
        if table.get(ten, 0) >= 20 and 0 < table.get(one, 0) < 20:
            return table[ten] + table[one]
        return None
    return compound(word, language)


def in_han(text: str) -> Iterator[Fact]:
    """The numbers in Chinese characters: of two and more, and of one before a unit."""
    if not _HAN_ANY.search(text):
        return
    for match in chain(_HAN_RUN.finditer(text), _HAN_DIGIT.finditer(text)):
        value = _han_value(match.group())
        before = text[match.start() - 1 : match.start()]
        if value is None or before.isdigit():
            continue
        dimension, factor, end = unit_after(text, match.end())
        yield Fact.number(
            match.start(),
            end,
            text,
            tuple(keys_of([value], dimension, factor)),
            value=value,
            unit=dimension,
            weak=value == 1,
        )


def _han_value(run: str) -> Fraction | None:
    if len(run) == 1:
        return Fraction(_HAN[run])
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


def in_roman(text: str) -> Iterator[Fact]:
    """The Roman numerals after a name or a word such as chapter."""
    for letter in _ROMAN_LETTER.finditer(text):
        match = _ROMAN.match(text, letter.start())
        if match is None:
            continue
        shown = match.group()
        before = _WORD.search(text, max(0, text.rfind(" ", 0, match.start() - 1)))
        if not shown or (len(shown) == 1 and shown not in "IVX"):
            continue
        if not _numbers_after(before, shown):
            continue
        value = _roman_value(shown)
        # The name before is a part of it: Charles V is not Philip V.
        name = before.group().casefold() if before else ""
        yield Fact.number(match.start(), match.end(), text, (("roman", name, value),), coded=True)


def _roman_value(numeral: str) -> int:
    digits = [_ROMAN_VALUES[letter] for letter in numeral]
    following = [*digits[1:], 0]
    return sum(-d if d < after else d for d, after in zip(digits, following, strict=True))


def _numbers_after(word: re.Match[str] | None, roman: str) -> bool:
    """True for a word that a Roman numeral may follow: a name, or `chapter` and its like."""
    if word is None or word.group() == "I":
        return False
    if roman == "I" and word.group() == "War":
        return True
    if word.group().casefold() in _DIVIDED:
        return True
    return roman != "I" and word.group()[0].isupper() and len(word.group()) > 2
