"""The word lists of the rules, which are data: `words.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path


def words_of(rule: str) -> Mapping[str, frozenset[str]]:
    """The lists of one rule, by their names."""
    return {name: frozenset(listed.split()) for name, listed in _lists()[rule].items()}


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
