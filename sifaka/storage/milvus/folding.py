"""Texts as the words that are indexed, so that every server finds the same ones."""

import re
import unicodedata
from collections.abc import Iterable

from sifaka.storage.milvus.schema import MOST_BYTES

_WORD = re.compile(r"[^\W_]+")
_LONGEST_WORD = 64


def fold(text: str) -> list[str]:
    """The words of a text without case and accents, each cut to 64 characters."""
    if not text.isascii():
        plain = unicodedata.normalize("NFD", text.casefold())
        text = "".join(c for c in plain if not unicodedata.combining(c))
    return [word[:_LONGEST_WORD] for word in _WORD.findall(text.lower())]


def bag_of_words(words: Iterable[str]) -> str:
    """The words as one text that fits into a field.

    When they do not all fit, each is there once before any is repeated: a long text is found by
    all of its words, and how often it has them counts up to where the field is full.
    """
    words = list(words)
    text = " ".join(words)
    if len(text.encode()) <= MOST_BYTES:
        return text
    seen: set[str] = set()
    first: list[str] = []
    again: list[str] = []
    for word in words:
        (again if word in seen else first).append(word)
        seen.add(word)
    kept: list[str] = []
    left = MOST_BYTES
    for word in (*first, *again):
        left -= len(word.encode()) + 1
        if left < 0:
            break
        kept.append(word)
    return " ".join(kept)
