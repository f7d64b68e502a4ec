"""JSON objects in a model's text: fenced, between prose, cut off or sloppy."""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

_MOST_STARTS = 50
"""Braces at which an object is looked for."""
_REPAIRABLE = 20_000
"""Characters; repairing takes time that grows with their square."""
_DEEPEST = 100
"""Braces and brackets one within the other."""

_START = re.compile(r"\{(?=\s*(?:\}|\\?[\"'“]|/[/*]|#|[A-Za-z_][\w -]*:))")
_ESCAPED = re.compile(r"\{\s*\\\"")
_TOKEN = re.compile(
    r"(?P<string>\"[^\"\\]*+(?:\\.[^\"\\]*+)*+(?P<end>\"?))"
    r"|(?P<open>[{\[])|(?P<close>[}\]])|(?P<colon>:)|(?P<literal>[^\s\"{}\[\],:]++)",
    re.DOTALL,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character: no text that holds one can be encoded as UTF-8."""


class Found(NamedTuple):
    """An object, and its words where it stood between others."""

    value: dict[str, object]
    source: str | None = None


def normal(word: str) -> str:
    """A word without its case and the punctuation around it; a question stays one."""
    return word.lstrip(" \t\r\n*_`'\"").rstrip(" \t\r\n.,;:!*_`'\"").casefold()


def unambiguous(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The members of an object, without keys that come twice with different values."""
    value: dict[str, object] = {}
    unclear: set[str] = set()
    for key, item in pairs:
        if key in value and not _same(value[key], item):
            unclear.add(key)
        value[key] = item
    return {key: item for key, item in value.items() if key not in unclear}


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return normal(one) == normal(other)
    return type(one) is type(other) and one == other


def strict(text: str) -> object:
    """JSON as it is written, less all that has no certain meaning.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    return clean(json.loads(text, strict=False, object_pairs_hook=unambiguous))


def clean(value: object) -> Any:
    """A copy without infinite numbers and NaN, and with U+FFFD for each lone surrogate."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        return {clean(str(key)): clean(item) for key, item in members if not _infinite(item)}
    if isinstance(value, list | tuple):
        return [clean(item) for item in cast("list[object]", value) if not _infinite(item)]
    return value


def _infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def objects_in(text: str) -> Iterator[Found]:
    """The outermost objects of a text; an object inside another is not one of them."""
    at = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        value, source, at = _object_at(text, start.start())
        if isinstance(value, dict):
            yield Found(cast("dict[str, object]", value), source)


def _object_at(text: str, start: int) -> tuple[object, str, int]:
    """The object that begins here or None, its words, and the place of its end."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        return clean(value), text[start:end], end
    except (ValueError, RecursionError):
        pass
    last = text.rfind("}") + 1
    if _ESCAPED.match(text, start):
        return _unescaped(text[start:last]), text[start:last], len(text)
    end, missing = _extent(text, start)
    source = text[start:end]
    if not missing:
        return _repaired(source), source, end
    try:  # cut off
        return strict(source + missing), text[start:], len(text)
    except (ValueError, RecursionError):
        # A quote that ends a string too early hides the closing brace: up to the last one there is.
        source = text[start : max(last, text.rfind("]") + 1)]
        return _repaired(source), source, len(text)


def _extent(text: str, start: int) -> tuple[int, str]:
    """The end of an object's last complete value, and the marks that are missing to close it."""
    end, missing, closing, value_next = start, "", list[str](), True
    for token in _TOKEN.finditer(text, start):
        if token.lastgroup == "colon":
            value_next = True
            continue
        if token.lastgroup == "open":
            closing.append("}" if token[0] == "{" else "]")
            if len(closing) > _DEEPEST:
                break
        elif token.lastgroup == "close":
            if closing.pop() != token[0]:
                break
            if not closing:
                return token.end(), ""
        else:
            is_whole = token["end"] if token["string"] else token.end() < len(text)
            if not is_whole or not value_next:
                continue
        value_next = closing[-1] == "]"
        end, missing = token.end(), "".join(reversed(closing))
    return end, missing


def _repaired(source: str) -> object:
    """The meaning of sloppy JSON, or None."""
    nesting = source.count("{") + source.count("[")
    if not source or len(source) > _REPAIRABLE or nesting > len(source) // 4:
        return None
    from json_repair import repair_json

    try:
        return _certain(repair_json(source, return_objects=True, skip_json_loads=True), source)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None


def _certain(value: object, source: str) -> object:
    """The object without keys that come with different values: only the last one was kept."""
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, object]", value).items()
    return clean({key: item for key, item in members if not _repeated(key, source)})


def _repeated(key: str, source: str) -> bool:
    name = re.escape(key)
    value = r"\s*:\s*[\"'“]?([^\"'”,}\]\n]*)"
    quoted = rf"(?<![\\\w])[\"'“]{name}[\"'”]{value}"
    bare = rf"[{{,\n]\s*{name}{value}"
    found = re.findall(f"{quoted}|{bare}", source)
    return len({normal(one or other) for one, other in found}) > 1


def _unescaped(source: str) -> object:
    try:
        return strict(str(json.loads(f'"{source}"', strict=False)))
    except (ValueError, RecursionError):
        return None


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=unambiguous)
