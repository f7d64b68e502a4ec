"""Tables of words and of patterns: data, in TOML beside the module that reads them."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

Row = Mapping[str, Any]
"""What a table says of one pattern."""


def words_of(module: str, group: str) -> Mapping[str, frozenset[str]]:
    """The lists of one group in `words.toml`, by their names; the module is its `__file__`."""
    listed: Mapping[str, str] = table(module, "words")[group]
    return {name: frozenset(words.split()) for name, words in listed.items()}


def patterns_of(module: str, group: str) -> Mapping[str, re.Pattern[str]]:
    """The patterns of one group in `patterns.toml` by their names, its rows left out."""
    rows: Row = table(module, "patterns")[group]
    return {name: re.compile(row) for name, row in rows.items() if isinstance(row, str)}


@cache
def table(module: str, name: str) -> Mapping[str, Any]:
    """A table by its groups, with its parts in place of their names."""
    path = Path(module).with_name(f"{name}.toml")
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    return _fill_parts(groups, groups.pop("parts", {}))


def _fill_parts(value: Any, parts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _fill_parts(row, parts) for key, row in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_fill_parts(row, parts) for row in cast("list[Any]", value)]
    if isinstance(value, str):
        for name in reversed(parts):  # each may name those before it
            value = value.replace(f"{{{name}}}", parts[name])
    return value
