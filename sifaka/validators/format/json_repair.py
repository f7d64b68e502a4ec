"""Repair of JSON that is nearly right, refused wherever it would lose or invent anything."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import SupportsIndex, cast

from sifaka.validators.format.schema import Json

REPAIR_LIMIT = 200_000
"""The most characters of a text that is repaired: a longer one takes more than half a second."""
LOOKS_PER_CHARACTER = 20
"""The most looks of a repair at each character on average."""
LOOKS_LIMIT = 1_000_000
"""The most looks of a repair altogether."""
CHATTER_LIMIT = 200
"""The most characters around JSON that count as its wrapping."""

_FENCED = re.compile(
    r"\s*(?:[^\n`{\[]*\n)?\s*```[ \t]*(?:json5?|jsonc)?[ \t]*\r?\n(.*?)\n[ \t]*```", re.DOTALL
)
_COMMENT = re.compile(
    r"(?:^|(?<=[\s,{\[\]}]))(?://[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))", re.DOTALL | re.MULTILINE
)
_TOKEN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([bfnrt])|(.))", re.DOTALL)
_INDENT = re.compile(r"[\[{,][ \t]*\r?\n([ \t]+)\S")
_SYNONYMS = {"None": "null", "undefined": "null", "True": "true", "False": "false"}


def repaired(text: str) -> str | None:
    """The same value as valid JSON in the layout of the text, or None.

    The text has to be an object or array, perhaps in a code fence or after a short remark. Every
    word and number of it must come back, comments and the wrapping left out, and nothing new may
    appear: no value where one was missing. Prose never becomes JSON.
    """
    if len(text) > REPAIR_LIMIT:
        return None
    source = _unwrapped(text)
    if source is None:
        return None
    value = _parsed(source)
    if not isinstance(value, dict | list) or not value or not _same_content(source, value):
        return None
    return _laid_out(value, text)


def _unwrapped(text: str) -> str | None:
    """The part of the text that is meant to be JSON."""
    stripped = text.lstrip("\ufeff").strip()
    fenced = _FENCED.match(stripped)
    if fenced:
        inner, outside = fenced[1].strip(), len(stripped) - len(fenced[0])
        outside += fenced.start(1)
        if inner[:1] in tuple("{[") and outside <= CHATTER_LIMIT and "```" not in inner:
            return inner
        return None
    if stripped[:1] in tuple("{["):
        return stripped
    # A remark before or after the value, which itself must be valid: no guessing twice.
    start = min((at for at in map(stripped.find, "{[") if at >= 0), default=-1)
    if start < 0:
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(stripped, start)
    except (ValueError, RecursionError):
        return None
    outside = start + len(stripped) - end
    return stripped[start:end] if outside <= min(CHATTER_LIMIT, end - start) else None


def _parsed(source: str) -> Json:
    try:
        return json.loads(source)
    except RecursionError:
        return None
    except ValueError:
        pass
    import json_repair

    try:
        return cast("Json", json_repair.loads(_Metered(source), skip_json_loads=True))
    except (RecursionError, ValueError, TimeoutError):
        return None


class _Metered(str):
    """A text that may be looked at so often: json-repair takes quadratic time on hostile input.

    It reads by index, about three times each character of a text that is worth a repair.
    """

    __slots__ = ("left",)

    def __new__(cls, text: str) -> "_Metered":
        metered = super().__new__(cls, text)
        metered.left = min(LOOKS_LIMIT, 10_000 + LOOKS_PER_CHARACTER * len(text))
        return metered

    def __getitem__(self, key: SupportsIndex | slice, /) -> str:
        self.left -= 1
        if self.left < 0:
            raise TimeoutError
        return super().__getitem__(key)


def _same_content(source: str, value: Json) -> bool:
    comments = Counter(_tokens(" ".join(_COMMENT.findall(source))))
    before = Counter(_tokens(_unescaped(source)))
    after = Counter(token for piece in _pieces(value) for token in _tokens(piece))
    lost, gained = before - after, after - before
    empty_before = len(re.findall(r"\"\"|''|“”", source))
    empty_after = sum(1 for piece in _pieces(value) if not piece)
    return not (lost - comments) and not gained and empty_after <= empty_before


def _pieces(value: Json) -> Iterator[str]:
    """Every key and every scalar of a value as text."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, Json]", value).items():
            yield key
            yield from _pieces(item)
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _pieces(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


def _tokens(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        yield _SYNONYMS.get(token) or _number(token)


def _number(token: str) -> str:
    """A number in one form for all its spellings; any other token as it is."""
    try:
        return str(Decimal(token).normalize() + 0) if token.strip("-")[0].isdigit() else token
    except (ArithmeticError, IndexError):
        return token


def _unescaped(source: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return " " if match[2] else match[3]

    return _ESCAPE.sub(character, source)


def _laid_out(value: Json, text: str) -> str:
    """The value as JSON: indented, spaced or compact as the text was."""
    indent = _INDENT.search(text)
    tight = ": " not in text and ", " not in text and indent is None
    laid_out = json.dumps(
        value,
        ensure_ascii=False,
        indent=indent[1] if indent else None,
        separators=(",", ":") if tight else None,
    )
    newline = "\r\n" if "\r\n" in text else "\n"
    laid_out = laid_out.replace("\n", newline)
    return laid_out + newline if text.endswith("\n") else laid_out
