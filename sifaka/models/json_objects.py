"""The JSON object that a model's reply is: fenced, cut off or sloppy."""

import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, cast

_REPAIRABLE = 20_000
"""Characters; repairing takes time that grows with their square."""
_DEEPEST = 100
"""Braces and brackets one within the other."""

_FENCED = re.compile(
    r"(?P<mark>`{3,}|~{3,}|`)(?:json)?\s*(?P<text>[^`\s].*?)(?:\s*(?P=mark))?",
    re.IGNORECASE | re.DOTALL,
)
_HEADLESS = re.compile(r"[\"'][A-Za-z_ ]+[\"']\s*:")
_START = re.compile(r"\{(?=\s*(?:\}|\\?[\"'“]|/[/*]|#|[A-Za-z_][\w -]*:))")
_ESCAPED = re.compile(r"\{\s*\\\"")
_TOKEN = re.compile(
    r"(?P<string>\"[^\"\\]*+(?:\\.[^\"\\]*+)*+(?P<end>\"?))"
    r"|(?P<open>[{\[])|(?P<close>[}\]])|(?P<colon>:)|(?P<literal>[^\s\"{}\[\],:]++)",
    re.DOTALL,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character: no text that holds one can be encoded as UTF-8."""


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


def object_of(text: str) -> dict[str, object] | None:
    """The object that a text is, mended where that is certain; None where it is anything else.

    It may stand in a fence, in a JSON string or alone in a list. With other words around it, it may
    be an example or a quote, and whether it is one takes understanding.
    """
    text = text.strip()
    if fenced := _FENCED.fullmatch(text):
        text = fenced["text"].strip()
    if _HEADLESS.match(text):
        text = "{" + text
    with suppress(ValueError, RecursionError):
        if text.startswith('"'):  # JSON in a JSON string
            text = str(json.loads(text, strict=False))
        elif _ESCAPED.match(text):
            text = str(json.loads(f'"{text}"', strict=False))
    value: object = None
    try:
        value = strict(text)
    except json.JSONDecodeError as error:
        if _START.match(text) and not error.msg.startswith("Extra data"):
            value = _mended(text)
    except (ValueError, RecursionError):
        pass
    if isinstance(value, list) and len(items := cast("list[object]", value)) == 1:
        value = items[0]
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _mended(text: str) -> object:
    """The meaning of an object that is sloppy or cut off, or None."""
    end, missing = _extent(text)
    if not missing:
        return _repaired(text) if end == len(text) else None
    try:  # cut off
        return strict(text[:end] + missing)
    except (ValueError, RecursionError):
        # A quote that ends a string too early hides the closing brace: up to the last one there is.
        return _repaired(text[: max(text.rfind("}"), text.rfind("]")) + 1])


def _extent(text: str) -> tuple[int, str]:
    """The end of an object's last complete value, and the marks that are missing to close it."""
    end, missing, closing, value_next = 0, "", list[str](), True
    for token in _TOKEN.finditer(text):
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
