"""JSON objects in what a model wrote: fenced, between prose, cut off or sloppy."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from sifaka.models.word_forms import normal, same

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


class Found(NamedTuple):
    """An object, and the words in which it was written, where they stand between others."""

    value: dict[str, object]
    source: str | None = None


def strict(text: str) -> object:
    """JSON as it is written, less what has no certain meaning.

    A key that comes twice with different values is left out, and so are NaN and infinities.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    return finite(json.loads(text, strict=False, object_pairs_hook=_unambiguous))


def finite(value: object) -> Any:
    """A copy without numbers that are not finite, nor the keys and items that held one."""
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {str(key): finite(item) for key, item in items if not _infinite(item)}
    if isinstance(value, list | tuple):
        return [finite(item) for item in cast("list[object]", value) if not _infinite(item)]
    return value


def objects_in(reply: str) -> Iterator[Found]:
    """The outermost objects of a reply; what is nested in another object is not one of them."""
    at = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(reply, at)
        if start is None:
            return
        value, source, at = _object_at(reply, start.start())
        if isinstance(value, dict):
            yield Found(cast("dict[str, object]", value), source)


def _object_at(reply: str, start: int) -> tuple[object, str, int]:
    """The object that begins here or None, the words it was read from, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(reply, start)
        return finite(value), reply[start:end], end
    except (ValueError, RecursionError):
        pass
    if _ESCAPED.match(reply, start):
        source = reply[start : reply.rfind("}") + 1]
        return _unescaped(source), source, len(reply)
    extent = _Extent(reply, start)
    if extent.end is not None:
        source = reply[start : extent.end]
        return _repaired(source), source, extent.end
    source = reply[start : extent.complete]
    try:
        return strict(source + extent.closing), source, len(reply)
    except (ValueError, RecursionError):
        # A quote that ends a string too early hides the closing brace: up to the last one there is.
        source = reply[start : max(reply.rfind(mark, start) for mark in "}]") + 1]
        return _repaired(source), source, len(reply)


class _Extent:
    """How far an object reaches: to its closing brace, or to the last value that is complete."""

    def __init__(self, text: str, start: int) -> None:
        self.end: int | None = None
        self.complete = start
        self.closing = ""
        stack: list[str] = []
        value_next = True
        for token in _TOKEN.finditer(text, start):
            match token.lastgroup:
                case "open":
                    stack.append("}" if token["open"] == "{" else "]")
                    value_next = token["open"] == "["
                    if len(stack) > _DEEPEST:
                        return
                case "close":
                    if not stack or stack.pop() != token["close"]:
                        return
                    if not stack:
                        self.end = token.end()
                        return
                    value_next = stack[-1] == "]"
                case "colon":
                    value_next = True
                    continue
                case kind:
                    whole = token["end"] if kind == "string" else token.end() < len(text)
                    if not whole or not value_next:
                        continue
                    value_next = stack[-1] == "]"
            self.complete = token.end()
            self.closing = "".join(reversed(stack))


def _repaired(source: str) -> object:
    """What sloppy JSON means, or None."""
    nesting = source.count("{") + source.count("[")
    if not source or len(source) > _REPAIRABLE or nesting > len(source) // 4:
        return None
    from json_repair import repair_json

    try:
        value: Any = repair_json(source, return_objects=True, skip_json_loads=True)
        if not isinstance(value, dict):
            return None
        items = cast("dict[str, object]", value).items()
        return finite({key: item for key, item in items if not _repeated(key, source)})
    except (ValueError, RecursionError, IndexError, TypeError):
        return None


def _repeated(key: str, source: str) -> bool:
    """Whether a key comes with different values: the repair would keep the last one."""
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


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value: dict[str, object] = {}
    unclear: set[str] = set()
    for key, item in pairs:
        if key in value and not same(value[key], item):
            unclear.add(key)
        value[key] = item
    return {key: item for key, item in value.items() if key not in unclear}


def _infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unambiguous)
