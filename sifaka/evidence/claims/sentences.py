"""Sentences that can be checked: those with numbers, names or dates. Needs no model."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from sifaka.text.markdown import Markdown
from sifaka.text.prose import Span, blanked, sentences, trimmed, urls

_STOP = re.compile(r"[。！？｡۔؟।॥]+[」』”’\"')\]]*")
"""Ends of sentences in scripts that have marks of their own, or put no space after them."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ITEM = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,3}[.)])(?:\s+\[[ xX]\])?\s+|[ \t]*>[ \t]?")
_TABLE = re.compile(r"\s*\|.*\|\s*$|[\s|:\-+=]+$")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_REFERENCES = re.compile(
    r"^[#*_ \t\d.]*(?:references|bibliography|works cited|citations|further reading"
    r"|(?:literatur|quellen)verzeichnis|références|bibliographie|referencias|bibliografía)"
    r"[*_:# \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""The line above a list of references. `Sources` and `Literature` may be what a text is about."""
_REFERENCE = re.compile(
    r"[ \t]*\[\^?[\w-]{1,20}\](?!\().*(?:https?://|www\.|\bdoi\b)", re.IGNORECASE
)
"""A reference that stands elsewhere: a number in brackets and an address."""
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|`")
_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_QUESTION = "?？؟;"
_NUMBER_WORD = re.compile(
    r"\b(?:hundreds?|thousands?|millions?|billions?|dozens?|per ?cent|twice|half|quarter)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?:please|let[’']?s|add|ask|avoid|call|check|choose|click|close|consider|copy|create|delete|do|"
    r"don[’']t|download|ensure|enter|fill|find|follow|give|go|imagine|insert|install|keep|look|make|"
    r"mix|move|never|note|open|press|put|read|remember|remove|replace|run|save|see|select|send|set|"
    r"show|start|stop|take|tell|try|turn|type|use|visit|wait|write)\b(?!\s+(?:of|was|were|is|are)\b)",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:I|we) (?:think|believe|feel|hope|love|like|prefer|guess|wish)\b"
    r"|\bin (?:my|our) opinion\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:it|its|he|his|she|her|they|their|this|that|these|those|both)\b", re.IGNORECASE
)
_SHORTEST_WORDS = 3
_SHORTEST_UNSPACED = 6
"""Characters of a sentence that is one word to the eye, as in Chinese."""
_LONGEST = 2_000
"""Characters of a sentence; what is longer is a list, or no prose at all."""
_CAPITALS = 0.25
"""The share of capitalised words from which capitals do not tell names, as in German or a title."""
_NUMBERS, _NAMES = 0.9, 0.6
"""The need of evidence, 0 to 1, for a number or a date, and for a name alone."""


class Checkable(NamedTuple):
    """A sentence that can be looked up."""

    span: Span
    """Its place in the text."""
    text: str
    """Its words without markup; what it starts from goes before one that begins with a pronoun."""
    need: float
    """The reader's need of evidence for it, 0 to 1."""


def checkable(text: str) -> list[Checkable]:
    """The sentences that state a number, a name or a date, in their order.

    Code, headings, tables, quoted lines, front matter, references, questions and instructions are
    left out, and so is an opinion that states no number. It goes by marks of writing: names count
    where a script has capitals.
    """
    found: list[Checkable] = []
    for block in _blocks(text):
        before = ""
        for start, end in _sentences(text, block):
            if end - start > _LONGEST:
                before = ""
                continue
            plain = _plain(text[start:end])
            need = _need(plain)
            if need:
                told = f"{before} {plain}" if before and _PRONOUN.match(plain) else plain
                found.append(Checkable((start, end), told, need))
            before = plain
    return found


def _need(sentence: str) -> float:
    """The need of evidence for a sentence; 0 where there is nothing to look up."""
    words = _WORD.findall(sentence)
    unspaced = not sentence.isascii() and len(sentence) >= _SHORTEST_UNSPACED
    if len(words) < _SHORTEST_WORDS and not (unspaced and max(map(len, words), default=0) >= 4):
        return 0.0
    if sentence.rstrip("\"'”’)]").endswith(tuple(_QUESTION)) or _INSTRUCTION.match(sentence):
        return 0.0
    if _has_number(sentence) or _NUMBER_WORD.search(sentence):
        return _NUMBERS
    if _OPINION.search(sentence):
        return 0.0
    return _NAMES if _has_name(words) else 0.0


def _has_number(sentence: str) -> bool:
    """True when a number stands outside of URLs."""
    return any(map(str.isnumeric, blanked(sentence, urls(sentence))))


def _has_name(words: list[str]) -> bool:
    """True when a word within the sentence is capitalised, where capitals tell names."""
    inner = [word for word in words[1:] if word not in {"I", "I’m", "I'm"}]
    capitalised = [word[:1].isupper() for word in inner]
    if not any(capitalised):
        return False
    if sum(capitalised) == 1 or sum(capitalised) / len(capitalised) < _CAPITALS:
        return True
    together = any(a and b for a, b in pairwise(capitalised))
    return together or any(word.isupper() and len(word) > 1 for word in inner)


def _plain(sentence: str) -> str:
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", sentence)).split())


def _sentences(text: str, block: Span) -> Iterator[Span]:
    begin, finish = block
    for start, end in sentences(text[begin:finish]):
        at = begin + start
        for stop in _STOP.finditer(text, at, begin + end):
            yield trimmed(text, at, stop.end())
            at = stop.end()
        if text[at : begin + end].strip():
            yield trimmed(text, at, begin + end)


def _blocks(text: str) -> Iterator[Span]:
    """Stretches of prose: paragraphs and items of lists."""
    start: int | None = None
    end = 0
    for match in _LINE.finditer(blanked(text, _others(text))):
        line = match.group()
        item = _ITEM.match(line)
        prose = line[item.end() :] if item else line
        is_prose = bool(prose.strip()) and not _TABLE.match(line) and not _REFERENCE.match(line)
        begins = item is not None and bool(item.end())
        if start is not None and (begins or not is_prose):
            yield start, end
            start = None
        if is_prose:
            start = match.start() + (item.end() if item else 0) if start is None else start
            end = match.end()
    if start is not None:
        yield start, end


def _others(text: str) -> list[Span]:
    """Front matter, code, headings, tables, quotes and lists of references."""
    markdown = Markdown(text)
    headings = [*(start for start, _ in markdown.places("heading_open")), len(text)]
    return [
        (0, markdown.start),
        *markdown.places("fence", "heading_open", "table_open", "blockquote_open"),
        *(
            (at.start(), headings[min(bisect_right(headings, at.start()), len(headings) - 1)])
            for at in _REFERENCES.finditer(text)
        ),
    ]
