"""Passages of documents, their nearness to a claim, and quotes that are looked up in them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from sifaka.evidence.documents import SourceDocument
from sifaka.record.thought import Document
from sifaka.storage.bm25 import best_first, query_words, rank
from sifaka.text.markdown import front_matter
from sifaka.text.numbers_and_names import Fold, folding, normalised
from sifaka.text.prose import Span, trimmed

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
    passages: dict[str, Passage[D]] = {}
    for document in documents:
        for text in stretches(_drop_front_matter(document.text), longest):
            passages.setdefault(text, Passage(document, text))
    return tuple(passages.values())


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
    parts = list(stretches(_drop_front_matter(text), max(1, min(_EXCERPT, most_chars))))
    chosen: set[int] = set()
    room = most_chars
    for at in _take_turns(parts, [query] if isinstance(query, str) else query):
        cost = len(parts[at]) + (len(GAP) if chosen else 0)
        if at not in chosen and cost <= room:
            chosen.add(at)
            room -= cost
    pieces = ((("\n" if at - 1 in chosen else GAP) + parts[at]) for at in sorted(chosen))
    return "".join(pieces).removeprefix(GAP)


def without_heading(passage: str) -> str:
    """The passage without the headings it begins with; the same when it has no more than those."""
    rest = passage
    while heading := _HEADING.match(rest):
        rest = rest[heading.end() :]
    return rest or passage


def _take_turns(parts: Sequence[str], queries: Sequence[str]) -> Iterator[int]:
    """The places of the stretches: the best one of each query, the second of each, and so on."""
    fields = [[(part, 1.0)] for part in parts]
    orders = (best_first(rank(query_words(query), fields)) for query in queries or [""])
    return chain.from_iterable(zip(*orders, strict=True))


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
        cut = _find_cut(text, at + longest // 2, at + longest, marks)
        yield text[at:cut].strip()
        at = cut
    if at < end:
        yield text[at:end]


def _find_cut(text: str, start: int, end: int, marks: Sequence[Sequence[str]]) -> int:
    for kind in marks:
        cut = max(text.rfind(mark, start, end) for mark in kind)
        if cut >= 0:
            return cut + 1  # after a full stop, before a heading
    return end


def _drop_front_matter(text: str) -> str:
    """The text without front matter: the author and the date in it are given beside it."""
    return text[front_matter(text) :]


_WORD = re.compile(r"[^\W_]+")
# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UNSPACED_RUN = re.compile(f"{_UNSPACED.pattern}+")
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
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    words = {
        word[:_STEM] if word.isalpha() else word
        for word in _WORD.findall(_UNSPACED_RUN.sub(" ", plain))
        if (len(word) >= _SHORTEST or not word.isalpha()) and word not in _EMPTY
    }
    for run in _UNSPACED_RUN.findall(plain):
        words |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(words)


def overlap(wanted: str, text: str) -> float:
    """The share of the telling words of what is wanted that stand in a text, 0 to 1.

    It is 1 where nothing telling is wanted.
    """
    telling = stems(wanted)
    return len(telling & stems(text)) / len(telling) if telling else 1.0


RELEVANT = 0.34
"""The overlap from which a document that no model has judged may be quoted for a question."""
NAMED = 0.2
"""The same for a claim, of which a document may know the subject and no more."""


_SHORTEST_WORDS = 2
_SHORTEST_QUOTE = 8
"""Letters and digits of a quote: a common word that stands everywhere proves nothing."""
_SHORTEST_UNSPACED = 4
"""The same in scripts that write a word in one or two characters."""
_LONGEST_QUOTE = 1_000
"""Characters of a quote; what is longer is a copy."""
_MOST_PLACES = 1_000
"""Places at which the characters of a quote may stand inside of longer words before it counts as
not found: a bound for hostile texts."""
_BEGINS = re.compile(rf"(?=[\W_]|{_UNSPACED.pattern})|(?<![^\W_])(?!(?<=\d[.,])\d)")
"""A place where a quote may begin: not inside of a word or a number."""
_ENDS = re.compile(rf"(?<=[\W_])|(?<={_UNSPACED.pattern})|(?![^\W_]|[\u0300-\u036f]|(?<=\d)[.,]\d)")
"""A place where it may end: neither there, nor before a mark of its last letter."""

_QUOTES = "\"'`´‘’‚‛“”„‟′″«»‹›"
_DASHES = "-‐‑‒–—―−﹣－"
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# One character for one; the rest of what is the same changes the length of a text.
_SAME = str.maketrans(
    dict.fromkeys(_QUOTES, "'")
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_SPACES, " ")
    | {"ς": "σ", "ſ": "s", "µ": "μ", "İ": "i"}
)
_MARKS = "\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a"
# Whole runs each: of neighbours that match the same, a pattern would try every division. A run of
# marks over a letter is cut, as to order them takes quadratic time.
_TYPOGRAPHY: Sequence[Fold] = (
    (r"[\s-]{2,}", lambda run: "-" if run.group().strip() else " "),
    ("'{2,}", "'"),
    (r"\.\.\.", "…"),
    (
        rf"[^\s{_MARKS}][{_MARKS}]{{1,30}}|[\u1100-\u11ff]{{2,3}}",
        lambda letter: unicodedata.normalize("NFC", letter.group()),
    ),
)
"""Of a text in lower case."""
_Form = tuple[str, Sequence[int], Sequence[int]]
"""A text as it is compared, with the places in the original where each of its characters begins,
and where what ends before it ends."""
_EDGE = f"{_QUOTES}\u2026 \t\r\n"
_STOPS = ".,;:!?"
_PAGE = re.compile(
    r"(?<=\n)[ \t\f]{0,40}(?:page |- ?)?\d{1,4}(?: ?-)?[ \t]{0,40}(?=\n|\f)", re.IGNORECASE
)
"""The number of a page, alone on its line."""


class QuotableText:
    """A text in which quotes are looked up, each in time that grows with the text's length."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> Span | None:
        """The place of the quoted words.

        Case, white space, kinds of quotation marks and dashes, and composed characters do not
        count, nor does punctuation around the quote, nor what a page puts in: hyphens at line
        ends, ligatures, footnote marks, mark-up, its number, line breaks inside numbers. Every
        word and every digit does. A quote begins and ends where words and numbers do. One with an
        omission is not found unless the text has the same dots: what was left out may have been a
        `not`. Quote each part by itself.

        Returns:
            The words' place, where they stand with the same capitals and marks if they do; None
            when they are not there, are fewer than two, have fewer than eight letters and digits,
            or are longer than 1,000 characters.
        """
        if len(quote) > _LONGEST_QUOTE:
            return None
        wanted = unicodedata.normalize("NFC", quote).strip(_EDGE)
        for form, (words, starts, ends) in self._forms(wanted):
            if not _is_telling(form):
                return None
            for each in dict.fromkeys((form, form.strip(_EDGE + _STOPS))):
                span = _find_span(each, words)
                if span is not None:
                    # A dash at its edge stands for the spaces around it too.
                    return trimmed(self.text, starts[span[0]], ends[span[1]])
        return None

    def _forms(self, quote: str) -> Iterator[tuple[str, _Form]]:
        """The quote and the text: as written, apart from typography, and as a reader hears them."""
        places = range(len(self.text) + 1)
        yield quote, (self.text, places, places)
        yield _drop_typography(quote)[0], self._plain_form
        yield _drop_typography(normalised(quote))[0].strip(_EDGE), self._read_form

    @cached_property
    def _plain_form(self) -> _Form:
        return _drop_typography(self.text)

    @cached_property
    def _read_form(self) -> _Form:
        words, at = folding(_PAGE.sub(lambda match: " " * len(match.group()), self.text))
        plain, starts, ends = _drop_typography(words)
        # Marks that are gone after the last character are not among the words.
        return plain, [at[each] for each in starts], [at[each - 1] + 1 for each in ends]


def _drop_typography(text: str) -> _Form:
    """A text without differences of typography; what has changed is in its place whole."""
    plain, places = folding(_lower_text(text), _TYPOGRAPHY)
    return plain, places, places


def _lower_text(text: str) -> str:
    """The text in lower case, each character as one."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals become two characters
        lower = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lower.translate(_SAME)


def _is_telling(quote: str) -> bool:
    words = _WORD.findall(quote)
    return len(_UNSPACED.findall(quote)) >= _SHORTEST_UNSPACED or (
        len(words) >= _SHORTEST_WORDS and sum(map(len, words)) >= _SHORTEST_QUOTE
    )


def _find_span(quote: str, text: str) -> Span | None:
    """The first place of the same characters that begins and ends where words and numbers do."""
    at = -1
    for _ in range(_MOST_PLACES):
        at = text.find(quote, at + 1)
        if at < 0:
            return None
        if _BEGINS.match(text, at) and _ENDS.match(text, at + len(quote)):
            return at, at + len(quote)
    return None
