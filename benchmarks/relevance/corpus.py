"""The texts and the queries, as they are written down in `texts.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("texts.toml")


@dataclass(frozen=True, slots=True)
class Query:
    """A question in other words than the texts that answer it."""

    text: str
    relevant: frozenset[str]
    """Ids of texts."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts by their ids, such as `bread/3`, and queries."""

    texts: dict[str, str]
    queries: tuple[Query, ...]
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])
    """The tasks that some of the texts were written for."""


def corpus() -> Corpus:
    """All topics."""
    topics: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["topics"]
    return Corpus(
        texts={
            f"{topic['name']}/{number}": text
            for topic in topics
            for number, text in enumerate(topic["texts"], 1)
        },
        queries=tuple(
            Query(
                text=query["ask"],
                relevant=frozenset(f"{topic['name']}/{n}" for n in query["relevant"]),
            )
            for topic in topics
            for query in topic["queries"]
        ),
    )
