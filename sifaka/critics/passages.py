"""Passages of documents, and which of them may speak about a claim."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from sifaka.thought import Document

_LONGEST = 2_000
"""Characters of a passage."""
_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\n\s*\n|(?<=[.!?])\s+|\s+")


class Passage(NamedTuple):
    """A stretch of a document that can be judged in one call."""

    document: Document
    text: str

    @property
    def source(self) -> str:
        """What to call its document."""
        return self.document.title or self.document.id or "a document"


def passages_of(documents: Iterable[Document]) -> tuple[Passage, ...]:
    """The passages of all documents, each text once."""
    found: dict[str, Passage] = {}
    for document in documents:
        for text in _stretches(document.text):
            found.setdefault(text, Passage(document, text))
    return tuple(found.values())


def nearest(claim: str, passages: Iterable[Passage], most: int) -> tuple[Passage, ...]:
    """The passages that have most of a claim's words, best first; what comes first wins a draw."""
    words = _words(claim)
    return tuple(sorted(passages, key=lambda each: -len(words & _words(each.text)))[:most])


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text) if len(word) > 2 or word.isdigit()}


def _stretches(text: str) -> Iterable[str]:
    """The text in parts that are short enough, cut where a paragraph, sentence or word ends."""
    rest = text.strip()
    while len(rest) > _LONGEST:
        head = rest[:_LONGEST]
        breaks = [match for match in _BREAK.finditer(head) if match.start() > _LONGEST // 2]
        kinds = (
            [match for match in breaks if match.group().count("\n") > 1],
            [match for match in breaks if head[match.start() - 1] in ".!?"],
            breaks,
        )
        cut = next((kind[-1].start() for kind in kinds if kind), _LONGEST)
        yield rest[:cut].strip()
        rest = rest[cut:].strip()
    if rest:
        yield rest
