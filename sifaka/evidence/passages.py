"""Passages of documents, and their nearness to a claim or a question."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from sifaka.evidence.documents import SourceDocument
from sifaka.record.thought import Document
from sifaka.storage.bm25 import query_words, rank
from sifaka.text.markdown import front_matter

_LONGEST = 2_000
"""Characters of a passage."""
_EXCERPT = 700
"""Characters of a passage of an excerpt: shorter, so that it can be put together of several."""
GAP = "\n[...]\n"
"""Stands between the passages of an excerpt where something was left out."""
_HEADING = re.compile(r"\s*(?:#{1,6}[ \t][^\n]*(?:\n\s*|\Z)|[^\n]+\n(?:={3,}|-{3,})[ \t]*\n\s*)")
_PROSE = (
    ("\n\n", "\n\r\n"),
    (". ", "! ", "? ", ".\n", "!\n", "?\n", ".\r", "!\r", "?\r"),
    (" ", "\n", "\t"),
)
"""The ends of paragraphs, sentences and words."""
LINES = (("\n\n", "\n# "), ("\n",), (". ",), (" ",))
"""Of texts whose lines mean something, such as tables: the ends of paragraphs and lines first."""


D = TypeVar("D", Document, SourceDocument)


class Passage(NamedTuple, Generic[D]):
    """A stretch of a document that can be judged in one call."""

    document: D
    text: str

    @property
    def source(self) -> str:
        """The name of its document."""
        return self.document.title or self.document.id or "a document"


def passages_of(documents: Iterable[D], *, longest: int = _LONGEST) -> tuple[Passage[D], ...]:
    """The passages of all documents, each text once, of at most so many characters."""
    found: dict[str, Passage[D]] = {}
    for document in documents:
        for text in stretches(_told(document.text), longest):
            found.setdefault(text, Passage(document, text))
    return tuple(found.values())


def nearest(claim: str, passages: Iterable[Passage[D]], most: int) -> tuple[Passage[D], ...]:
    """The passages that have most of a claim's telling words, in whatever form, best first.

    What comes first wins a draw.
    """
    words = stems(claim)
    return tuple(sorted(passages, key=lambda each: -len(words & stems(each.text)))[:most])


def excerpt(text: str, query: str | Sequence[str], most_chars: int) -> str:
    """The passages of a text that match a query best, in their order.

    Args:
        text: Of any length; one that is short enough is its own excerpt.
        query: What to look for. Of several the passages are taken in turn, so that a long one does
            not displace a short one.
        most_chars: Characters of the excerpt, the marks where something was left out included.

    Returns:
        Passages with `GAP` between two that do not follow each other; the beginning of the text
        where nothing matches.
    """
    if len(text) <= most_chars:
        return text
    parts = list(stretches(_told(text), max(1, min(_EXCERPT, most_chars))))
    chosen: set[int] = set()
    room = most_chars
    for at in _in_turn(parts, [query] if isinstance(query, str) else query):
        cost = len(parts[at]) + (len(GAP) if chosen else 0)
        if at not in chosen and cost <= room:
            chosen.add(at)
            room -= cost
    shown: list[str] = []
    for at in sorted(chosen):
        shown += [] if not shown else ["\n"] if at - 1 in chosen else [GAP]
        shown.append(parts[at])
    return "".join(shown)


def without_heading(passage: str) -> str:
    """The passage without the headings it begins with; the same when it has no more than those."""
    rest = passage
    while heading := _HEADING.match(rest):
        rest = rest[heading.end() :]
    return rest or passage


def _in_turn(parts: Sequence[str], queries: Sequence[str]) -> Iterator[int]:
    """The places of the stretches: the best one of each query, the second of each, and so on."""
    fields = [[(part, 1.0)] for part in parts]
    orders = [_order(rank(query_words(query), fields)) for query in queries or [""]]
    for places in zip(*orders, strict=True):
        yield from places


def _order(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def stretches(text: str, longest: int, marks: Sequence[Sequence[str]] = _PROSE) -> Iterator[str]:
    """The text in parts of at most `longest` characters, cut after the marks in their second half.

    Of the kinds of marks those that come first are better.
    """
    at, end = 0, len(text.rstrip())
    while True:
        while at < end and text[at].isspace():
            at += 1
        if end - at <= longest:
            break
        cut = _cut(text, at + longest // 2, at + longest, marks)
        yield text[at:cut].strip()
        at = cut
    if at < end:
        yield text[at:end]


def _cut(text: str, start: int, end: int, marks: Sequence[Sequence[str]]) -> int:
    for kind in marks:
        cut = max(text.rfind(mark, start, end) for mark in kind)
        if cut >= 0:
            return cut + 1  # after a full stop, before a heading
    return end


def _told(text: str) -> str:
    """The text without front matter: the author and the date in it are told beside it."""
    return text[front_matter(text) :]


_LETTERS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
_STEM = 5
"""Letters by which forms of a word are the same: `erupted` and `eruption`."""
_SHORTEST = 3
"""Letters of a word that tells something, unless it is a number."""
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        """about also and any are between but can could did does for from had has have how its may
        might much must not shall should some than that the their them there these they this those
        was were what when where which who whom whose why will with would you your into been being
        der die das den dem des und ist sind war ein eine einer eines mit von für auf nicht auch
        les des une est sont dans pour par sur qui que pas aux avec
        los las una del con por para que fue son está""",
    )
)
"""Words that stand in texts about anything."""


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, without case, accents and endings; of Chinese pairs of signs."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    found = {
        word[:_STEM] if word.isalpha() else word
        for word in _LETTERS.findall(_UNSPACED.sub(" ", plain))
        if (len(word) >= _SHORTEST or not word.isalpha()) and word not in _EMPTY
    }
    for run in _UNSPACED.findall(plain):
        found |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(found)


def overlap(wanted: str, text: str) -> float:
    """The share of the telling words of what is wanted that stand in a text, 0 to 1.

    It is 1 where nothing telling is wanted.
    """
    asked = stems(wanted)
    return len(asked & stems(text)) / len(asked) if asked else 1.0


RELEVANT = 0.34
"""The overlap from which a document that no model has judged may be quoted for a question."""
NAMED = 0.2
"""The same for a claim, of which a document may know the subject and no more."""
