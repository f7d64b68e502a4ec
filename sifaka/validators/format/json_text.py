"""JSON: parsed strictly, repaired where nothing is lost, and checked against a schema."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any, SupportsIndex, cast

from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of
from sifaka.validators.format.reading import Locate, Malformed, Schema
from sifaka.validators.format.schema import Json, Path, violations

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_PATTERNS = patterns_of(__file__, "json")


def read(text: str, schema: Schema | None) -> tuple[Json, Locate]:
    """The value of a text that is JSON, and where its parts are.

    Raises:
        Malformed: It is not one JSON value. It has a fix where the text can be repaired without
            loss to one that the schema allows.
    """
    try:
        return parse(text), partial(locate, text)
    except Malformed as problem:
        problem.fix = _repair_safely(text, schema)
        raise


def parse(text: str) -> Json:
    """The value of a JSON text, after the letter of RFC 8259: NaN and Infinity are not JSON.

    Raises:
        Malformed: It is not JSON, has a key twice, or is too deep or too long for this parser.
    """
    try:
        value = json.loads(text, parse_constant=partial(_refuse_constant, text))
    except json.JSONDecodeError as error:
        raise Malformed(error.msg[:1].lower() + error.msg[1:], error.pos) from None
    except RecursionError:
        raise Malformed("it is nested too deeply", 0) from None
    except Malformed:
        raise
    except ValueError:
        raise Malformed("a number has too many digits", 0) from None
    _refuse_repeated_keys(text)
    return value


def _refuse_repeated_keys(text: str) -> None:
    """Raise Malformed at a key of a valid JSON text that its object had before."""
    objects: list[set[str]] = []
    for token in _PATTERNS["key_or_brace"].finditer(text):
        if token[0] == "{":
            objects.append(set())
        elif token[0] == "}":
            objects.pop()
        elif token["key"]:
            key = json.loads(token["key"])
            if key in objects[-1]:
                raise Malformed(f"the key {key[:60]!r} is given twice", token.start())
            objects[-1].add(key)


def locate(text: str, path: Path) -> Span | None:
    """The place of the value at a path in a valid JSON text."""
    at = _skip_space(text, 0)
    for step in path:
        places = dict(_members(text, at))
        if step not in places:
            return None
        at = places[step]
    return at, _DECODER.raw_decode(text, at)[1]


def _refuse_constant(text: str, name: str) -> Any:
    raise Malformed(f"{name} is not JSON", max(0, text.find(name)))


def _members(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """The keys or indexes of the object or array that begins at `at`, and where their values are.

    There are none of another value.
    """
    if text[at] not in "{[":
        return
    is_object, at = text[at] == "{", _skip_space(text, at + 1)
    for index in count():
        if text[at] in "]}":
            return
        key: str | int = index
        if is_object:
            key, at = cast("tuple[str, int]", _DECODER.raw_decode(text, at))
            at = _skip_space(text, _skip_space(text, at) + 1)
        yield key, at
        at = _skip_space(text, _DECODER.raw_decode(text, at)[1])
        at = _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _repair_safely(text: str, schema: Schema | None) -> str | None:
    """The repaired text, if it is one that passes."""
    with suppress(ValueError, TimeoutError):
        fix = repaired(text) or ""  # which is not JSON
        value = parse(fix)
        if schema is None or not violations(schema, value):
            return fix
    return None


# --- repair ---

REPAIR_LIMIT = 200_000
"""The most characters of a text that is repaired: a longer one takes more than half a second."""
LOOKS_PER_CHARACTER = 20
"""The most looks of a repair at each character on average."""
LOOKS_LIMIT = 1_000_000
"""The most looks of a repair altogether."""
CHATTER_LIMIT = 200
"""The most characters around JSON that count as its wrapping."""

_SYNONYMS = {"None": "null", "undefined": "null", "True": "true", "False": "false"}


def repaired(text: str) -> str | None:
    """The same value as valid JSON in the layout of the text, or None.

    The text has to be an object or array, perhaps in a code fence or after a short remark. Every
    word and number of it must come back, comments and the wrapping left out, and nothing new may
    appear: no value where one was missing. Prose never becomes JSON.
    """
    with suppress(ValueError, RecursionError, TimeoutError):
        source = _unwrap_json(text) if len(text) <= REPAIR_LIMIT else None
        value = None if source is None else _parse_loosely(source)
        if source and value and isinstance(value, dict | list) and _has_same_content(source, value):
            return _lay_out(value, text)
    return None


def _unwrap_json(text: str) -> str | None:
    """The part of the text that should be JSON; ValueError where what might be it is none."""
    stripped = text.lstrip("\ufeff").strip()
    fenced = _PATTERNS["fenced"].match(stripped)
    if fenced:
        inner, outside = fenced[1].strip(), len(stripped) - len(fenced[0]) + fenced.start(1)
        is_json = inner[:1] in tuple("{[") and outside <= CHATTER_LIMIT and "```" not in inner
        return inner if is_json else None
    if stripped[:1] in tuple("{["):
        return stripped
    # A remark before or after the value, which itself must be valid: no guessing twice.
    start = min((at for at in map(stripped.find, "{[") if at >= 0), default=len(stripped))
    _, end = _DECODER.raw_decode(stripped, start)
    outside = start + len(stripped) - end
    return stripped[start:end] if outside <= min(CHATTER_LIMIT, end - start) else None


def _parse_loosely(source: str) -> Json:
    with suppress(ValueError):
        return json.loads(source)
    import json_repair

    return cast("Json", json_repair.loads(_Metered(source), skip_json_loads=True))


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


def _has_same_content(source: str, value: Json) -> bool:
    comments = Counter(_tokens(" ".join(_PATTERNS["comment"].findall(source))))
    before = Counter(_tokens(_unescape(source)))
    written = json.dumps(value, ensure_ascii=False)
    after = Counter(_tokens(_unescape(written)))
    empty_before = len(re.findall(r"\"\"|''|“”", source))
    empty_after = len(re.findall(r'(?<!\\)""', written))
    return before - after <= comments and after <= before and empty_after <= empty_before


def _tokens(text: str) -> Iterator[str]:
    for token in _PATTERNS["token"].findall(text):
        yield _SYNONYMS.get(token) or _normalize_number(token)


def _normalize_number(token: str) -> str:
    """A number in one form for all its spellings; any other token as it is."""
    try:
        return str(Decimal(token).normalize() + 0) if token.strip("-")[0].isdigit() else token
    except (ArithmeticError, IndexError):
        return token


def _unescape(source: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return " " if match[2] else match[3]

    return _PATTERNS["escape"].sub(character, source)


def _lay_out(value: Json, text: str) -> str:
    """The value as JSON: indented, spaced or compact as the text was."""
    indent = _PATTERNS["indent"].search(text)
    tight = ": " not in text and ", " not in text and indent is None
    laid_out = json.dumps(
        value,
        ensure_ascii=False,
        indent=indent[1] if indent else None,
        separators=(",", ":") if tight else None,
    )
    end = "\n" if text.endswith("\n") else ""
    return f"{laid_out}{end}".replace("\n", "\r\n" if "\r\n" in text else "\n")
