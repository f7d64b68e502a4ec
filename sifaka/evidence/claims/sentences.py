"""Sentences that can be checked: those with numbers, names or dates. Needs no model."""

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from sifaka.text.markdown import Markdown
from sifaka.text.prose import Span, blanked, sentence_spans, urls

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])(?:\s+\[[ xX]\])?\s+")
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
    prose = blanked(text, _others(text))
    before, done = "", 0
    for first, end in sentence_spans(prose):
        item = _ITEM.match(prose, first, end)
        start = item.end() if item else first
        if item or _BLANK_LINE.search(prose, done, first):
            before = ""
        plain = _plain(text[start:end]) if end - start <= _LONGEST else ""
        need = _need(plain)
        if need:
            told = f"{before} {plain}" if before and _PRONOUN.match(plain) else plain
            found.append(Checkable((start, end), told, need))
        before, done = plain, end
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


def _others(text: str) -> list[Span]:
    """Front matter, code, headings, tables and what looks like one, quotes, references."""
    markdown = Markdown(text)
    headings = [*(start for start, _ in markdown.places("heading_open")), len(text)]
    return [
        (0, markdown.start),
        *markdown.places("fence", "heading_open", "table_open", "blockquote_open"),
        *(
            (at.start(), headings[min(bisect_right(headings, at.start()), len(headings) - 1)])
            for at in _REFERENCES.finditer(text)
        ),
        *(
            line.span()
            for line in _LINE.finditer(text)
            if _TABLE.match(line.group()) or _REFERENCE.match(line.group())
        ),
    ]
