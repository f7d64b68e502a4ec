"""The tables of the rules, which are data: word lists, and rows of patterns."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
"""What a table says of one pattern."""


def words_of(rule: str) -> Mapping[str, frozenset[str]]:
    """The lists of one rule in `words.toml`, by their names."""
    return {name: frozenset(listed.split()) for name, listed in _table("words")[rule].items()}


@cache
def rows_of(table: str) -> Mapping[str, Sequence[Row]]:
    """The rows of a table by their groups, with its parts in place of their names."""
    groups = dict(_table(table))
    parts: dict[str, str] = groups.pop("parts")
    rows: list[dict[str, Any]] = [row for group in groups.values() for row in group]
    for name, pattern in parts.items():  # each may name those before it
        for patterns in (parts, *rows):
            held = ((key, value) for key, value in patterns.items() if isinstance(value, str))
            patterns |= {key: value.replace(f"{{{name}}}", pattern) for key, value in held}
    return groups


@cache
def _table(name: str) -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
