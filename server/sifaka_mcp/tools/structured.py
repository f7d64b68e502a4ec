"""The structured part of an answer: no larger than a context can bear, and nothing hidden in it."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, cast

from pydantic import BaseModel

from sifaka_mcp.safe_text import shown

LARGEST = 40_000
"""Characters of the structured part, as JSON, beside the text that was asked for."""
_PAGE = LARGEST - 2_000
_LONG = 1_000
"""Characters that are left of words that are too long."""
_WHOLE = frozenset({"text", "instructions", "ledger"})
"""Fields whose words stay whole."""
_EXACT = frozenset({"text", "before", "after"})
"""Fields that are the text itself, or say how it changes: each of their characters stays."""


def _size(data: object) -> int:
    """The characters of a part of an answer."""
    return len(json.dumps(data, ensure_ascii=False))


def plain(data: Any) -> Any:
    """An answer without characters that nobody sees, which may hide words to a model."""
    written = json.dumps(data, ensure_ascii=False)
    return data if shown(written) == written else _cleaned(data)


def _cleaned(node: Any, name: str = "") -> Any:
    if isinstance(node, dict):
        return {key: _cleaned(value, key) for key, value in cast("dict[str, object]", node).items()}
    if isinstance(node, list):
        return [_cleaned(each, name) for each in cast("list[object]", node)]
    return shown(node) if isinstance(node, str) and name not in _EXACT else node


def fitting(parts: Iterable[BaseModel]) -> int:
    """The number of parts that one answer has room for, beside what it says of them; at least 1."""
    sizes = accumulate(_size(part.model_dump(mode="json")) for part in parts)
    return max(1, sum(size <= _PAGE for size in sizes))


def within(data: dict[str, Any], most: int = LARGEST) -> tuple[dict[str, Any], tuple[str, ...]]:
    """An answer without the ends of its longest lists, where it is too large.

    Returns:
        The answer, and a line for each kind of list that was cut.
    """
    if _beside_text(data) <= most:
        return data, ()
    _shorten(data)
    cut: Counter[str] = Counter()
    while (size := _beside_text(data)) > most:
        parts = (part for part in _fields(data) if isinstance(part[2], list))
        lists = [(_size(part), name, cast("list[Any]", part)) for _, name, part in parts]
        lists = [each for each in lists if len(each[2]) > 1]
        if not lists:
            break
        large, name, part = max(lists, key=lambda each: each[0])
        kept = max(1, int(len(part) * max(0.5, 1 - (size - most) / large)) - 1)
        cut[name] += len(part) - kept
        del part[kept:]
    return data, tuple(
        f"{name}: {left} more are left out, as the answer would be too large"
        for name, left in cut.items()
    )


def _beside_text(data: dict[str, Any]) -> int:
    """The size of an answer without its text, which may be long and is not written for that."""
    return _size({name: value for name, value in data.items() if name != "text"})


def _fields(node: object, name: str = "") -> Iterator[tuple[Any, str, object]]:
    """Each part of an answer: what it lies in, the field that it is in or of, and the part."""
    if isinstance(node, dict):
        for key, value in cast("dict[str, object]", node).items():
            yield node, key, value
            yield from _fields(value, key)
    elif isinstance(node, list):
        for item in cast("list[object]", node):
            yield node, name, item
            yield from _fields(item, name)


def _shorten(data: object) -> None:
    """Cut the words that are too long, but for those that are whole or nothing."""
    for node, name, value in list(_fields(data)):
        is_long = isinstance(value, str) and len(value) > _LONG
        if is_long and isinstance(node, dict) and name not in _WHOLE:
            node[name] = f"{str(value)[: _LONG - 1]}…"
