"""Looks up quotes in the texts they are said to be from."""

import re
import unicodedata
from functools import lru_cache

_SHORTEST_WORDS = 2
_SHORTEST = 8
"""Letters and digits of a quote: a common word that stands everywhere proves nothing."""
_SHORTEST_UNSPACED = 4
"""The same in scripts that write a word in one or two characters."""
_LONGEST = 1_000
"""Characters of a quote; what is longer is a copy."""

_QUOTES = "\"'`´‘’‚‛“”„‟′″«»‹›"
_DASHES = "-‐‑‒–—―−﹣－"
# Whole runs each: of neighbours that match the same, a pattern would try every division.
_TOKEN = re.compile(
    rf"(?P<dash>\s*[{re.escape(_DASHES)}][\s{re.escape(_DASHES)}]*)|(?P<space>\s+)"
    rf"|(?P<mark>[{re.escape(_QUOTES)}]+)|(?P<dots>…|\.\.\.)"
)
_EDGE = f"{_QUOTES}\u2026 \t\r\n"
_STOPS = ".,;:!?"
_WORD = re.compile(r"[^\W_]+")
# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def find_quote(quote: str, text: str) -> str | None:
    """The quoted words exactly as they stand in a text.

    Case, white space, kinds of quotation marks and dashes, and composed characters do not count,
    nor does punctuation around the quote; every word and every digit does. A quote begins and ends
    where words and numbers do. One with an omission is not found unless the text has the same
    dots: what was left out may have been a `not`. Quote each part by itself.

    Returns:
        The words, where they stand with the same capitals and marks if they do; None when they are
        not there, are fewer than two, have fewer than eight letters and digits, or are longer than
        1,000 characters.
    """
    if len(quote) > _LONGEST:
        return None
    wanted = unicodedata.normalize("NFC", quote).strip(_EDGE)
    if not _is_telling(wanted):
        return None
    for each in dict.fromkeys((wanted, wanted.strip(_EDGE + _STOPS))):
        pattern = _pattern(each)
        # The same characters are found at once, where the pattern looks at every place.
        exact = text.find(each)
        found = (pattern.match(text, exact) if exact >= 0 else None) or pattern.search(text)
        if found is not None:
            return found.group()
    return None


def _is_telling(quote: str) -> bool:
    words = _WORD.findall(quote)
    if len(_UNSPACED.findall(quote)) >= _SHORTEST_UNSPACED:
        return True
    return len(words) >= _SHORTEST_WORDS and sum(map(len, words)) >= _SHORTEST


@lru_cache(maxsize=256)
def _pattern(quote: str) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    for match in _TOKEN.finditer(quote):
        kind = match.lastgroup or ""
        # One that begins with a run would be tried from each place of every run in the text.
        kind = kind if match.start() else _FIRST.get(kind, kind)
        parts += [_literal(quote[at : match.start()]), _CLASSES[kind]]
        at = match.end()
    parts.append(_literal(quote[at:]))
    return re.compile(_before(quote[0]) + "".join(parts) + _after(quote[-1]), re.IGNORECASE)


_CLASSES = {
    "dash": rf"\s*+[{re.escape(_DASHES)}][\s{re.escape(_DASHES)}]*+",
    "first dash": rf"[{re.escape(_DASHES)}]\s*+",
    "space": r"\s++",
    "mark": rf"[{re.escape(_QUOTES)}]++",
    "dots": r"(?:…|\.\.\.)",
}

_FIRST = {"dash": "first dash"}


def _literal(part: str) -> str:
    """A pattern for the characters, each composed or not."""
    if part.isascii():
        return re.escape(part)
    return "".join(
        re.escape(c)
        if (apart := unicodedata.normalize("NFD", c)) == c
        else f"(?:{re.escape(c)}|{re.escape(apart)})"
        for c in part
    )


def _before(first: str) -> str:
    if not first.isalnum() or _UNSPACED.match(first):
        return ""
    return r"(?<![^\W_])" + (r"(?<!\d[.,])" if first.isdigit() else "")


def _after(last: str) -> str:
    if not last.isalnum() or _UNSPACED.match(last):
        return ""
    return r"(?![^\W_]|[\u0300-\u036f])" + (r"(?![.,]\d)" if last.isdigit() else "")
