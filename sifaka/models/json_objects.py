"""The JSON object that a model's reply is: alone, in a fence, or cut off."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import from_json

_FENCED = re.compile(
    r"(?P<mark>`{3,}|~{3,}|`)(?:json)?\s*(?P<text>[^`\s].*?)(?:\s*(?P=mark))?",
    re.IGNORECASE | re.DOTALL,
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
    """The object that a text is, alone or in a fence, and as far as it goes when it is cut off.

    With other words around it, it may be an example or a quote, and whether it is one takes
    understanding: then it is none.
    """
    fenced = _FENCED.fullmatch(text.strip())
    body = clean((fenced["text"] if fenced else text).strip())
    try:
        value = strict(body)
    except (ValueError, RecursionError):
        value = _cut_off(body) if body.startswith("{") else None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _cut_off(text: str) -> object:
    """What there is of JSON that breaks off; None for what is none for another reason."""
    try:
        value = from_json(text)
    except ValueError as error:
        value = from_json(text, allow_partial=True) if "EOF" in str(error) else None
    if not isinstance(value, dict):
        return None
    # Of a key that comes twice only the last one is there.
    members = cast("dict[str, object]", value).items()
    return clean({key: item for key, item in members if text.count(json.dumps(key)) == 1})
