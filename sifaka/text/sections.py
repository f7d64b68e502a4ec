"""A long text as sections that can be worked on one by one and put together again."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sifaka.text.markdown import Block, Markdown, front_matter
from sifaka.text.tables import patterns_of

SECTION_CHARS = 24_000
"""Characters beyond which a text is worked on in sections by default."""
_OUTLINE = 3_000
"""Characters of an outline; the deepest headings are left out first."""
_LONGEST_TITLE = 80
_CUTS = patterns_of(__file__, "cuts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A stretch of a text; all of them together, in their order, are the text."""

    number: int
    """From 1."""
    start: int
    """Its first offset in the text."""
    text: str
    heading: str
    """The lines of the heading that it begins with, as they stand; empty when it does not."""
    title: str
    """The title of that heading, or of the last one before it; empty before any."""
    headings: tuple[Block, ...]
    """All headings in it."""
    literal: bool
    """True for front matter, and for a piece of code too long for one section: nothing in it is
    to be worded anew."""

    @property
    def end(self) -> int:
        """The offset after it in the text."""
        return self.start + len(self.text)

    @property
    def label(self) -> str:
        """The prefix of a remark about it, which `labelled` reads."""
        title = " ".join(self.title.replace("[", "(").replace("]", ")").split())
        return f"[section {self.number}{f': {title[:_LONGEST_TITLE]}' if title else ''}]"


class _Piece(NamedTuple):
    start: int
    end: int
    literal: bool = False


def split(text: str, most: int) -> tuple[Section, ...]:
    """The sections of a text, each of at most `most` characters.

    Markdown headings decide: what stands under one stays together as long as it fits, and small
    neighbours under one heading are taken together. What is too long is divided at paragraphs, then
    at items of a list, sentences, lines and words. Front matter is a section of its own.

    Returns:
        None for an empty text. Their texts put together are the text, character by character.
    """
    front = front_matter(text)
    blocks = Markdown(text, front).blocks
    pieces = [*_cut_stretch(text, 0, front, most, literal=True)] if front else []
    pieces += _divide(text, blocks, most) if blocks else []
    return tuple(_assemble(text, pieces, [b for b in blocks if b.level]))


def outline(sections: Sequence[Section]) -> str:
    """The headings of a text, one a line, indented by level; empty when it has none."""
    headings = [heading for section in sections for heading in section.headings]
    outlines = [
        "\n".join(f"{'  ' * (h.level - 1)}{h.title}" for h in headings if h.level <= deepest)
        for deepest in range(6, 0, -1)
    ]
    return next((each for each in outlines if len(each) < _OUTLINE), outlines[-1][:_OUTLINE])


def labelled(remark: str) -> tuple[int | None, str]:
    """The number of the section that a remark's label names, and the remark without it."""
    match = _CUTS["label"].match(remark)
    return (None, remark) if match is None else (int(match.group(1)), remark[match.end() :])


def overlapping(sections: Sequence[Section], start: int, end: int) -> Sequence[Section]:
    """The sections that a span of the text touches; that of its beginning when it is empty."""
    starts = [section.start for section in sections]
    first = max(0, bisect_right(starts, start) - 1)
    return sections[first : max(first + 1, bisect_left(starts, end))]


def _assemble(text: str, pieces: Sequence[_Piece], headings: Sequence[Block]) -> Iterator[Section]:
    starts = [heading.start for heading in headings]
    title = ""
    for number, piece in enumerate(pieces, 1):
        inside = headings[bisect_left(starts, piece.start) : bisect_left(starts, piece.end)]
        opens = bool(inside) and inside[0].start == piece.start
        if opens:
            title = inside[0].title
        yield Section(
            number=number,
            start=piece.start,
            text=text[piece.start : piece.end],
            heading=text[piece.start : inside[0].stop] if opens else "",
            title=title,
            headings=tuple(inside),
            literal=piece.literal,
        )
        if inside:
            title = inside[-1].title


def _divide(text: str, blocks: Sequence[Block], most: int) -> list[_Piece]:
    """The pieces of some blocks: divided at the highest headings, else at each block."""
    start, end = blocks[0].start, blocks[-1].end
    if end - start <= most:
        return [_Piece(start, end)]
    highest = min((block.level for block in blocks[1:] if block.level), default=0)
    cuts = [n for n, block in enumerate(blocks) if n and highest and block.level == highest]
    if not highest:
        # A heading stays with the beginning of what is too long.
        opens = blocks[0].level and len(blocks) > 1 and blocks[1].end - blocks[1].start > most
        cuts = list(range(2 if opens else 1, len(blocks)))
    if not cuts:
        return _cut_block(text, start, blocks[-1], most)
    packed: list[_Piece] = []
    group, is_open = 0, False
    for first, last in pairwise((0, *cuts, len(blocks))):
        pieces = _divide(text, blocks[first:last], most)
        is_whole = len(pieces) == 1
        if is_open and not (packed[-1].literal or pieces[0].literal):
            joined = _Piece(packed[-1].start, pieces[0].end)
            # Headings alone go with what they stand above.
            joins = is_whole or (highest and all(block.level for block in blocks[group:first]))
            if joins and joined.end - joined.start <= most:
                packed[-1], pieces = joined, pieces[1:]
        group = first if pieces else group
        packed += pieces
        is_open = is_whole or not highest
    return packed


def _cut_block(text: str, start: int, block: Block, most: int) -> list[_Piece]:
    """The pieces of a block that is too long, from the start of the heading before it, if any."""
    if block.kind != "fence":
        return [*_cut_stretch(text, start, block.end, most, by_line=block.by_line)]
    above = _cut_stretch(text, start, block.start, most) if start < block.start else ()
    return [*above, *_cut_stretch(text, block.start, block.end, most, literal=True)]


def _cut_stretch(
    text: str, start: int, end: int, most: int, *, by_line: bool = True, literal: bool = False
) -> Iterator[_Piece]:
    """Pieces of at most `most` characters, cut in the second half of what one could be."""
    lines = ("item", "line_end", "sentence", "space")
    names = lines if by_line else ("sentence", "line_end", "space")
    while end - start > most:
        furthest = start + max(1, most)
        nearest = start + max(1, most // 2)
        last = (
            [m.end() for m in _CUTS[name].finditer(text, nearest - 1, furthest)][-1:]
            for name in names
        )
        at = next((at for ends in last for at in ends if start < at), furthest)
        if text[at - 1] == "\r" and text[at : at + 1] == "\n" and at - 1 > start:
            at -= 1
        yield _Piece(start, at, literal)
        start = at
    yield _Piece(start, end, literal)


# --- shared terms ---

MOST_TERMS = 200
"""Terms that are compared; those in the most parts."""
_LONGEST = 80
"""Characters of a term."""
_TERMS = patterns_of(__file__, "terms")
_ENDS = " \t\r\n.!?:;#*->\"'“”(["
"""Characters before the first word of a sentence."""
_OPENING = frozenset(
    re.findall(
        r"\w+",
        """A Additionally Also Although An And As At Because Before Both But By During Each Every
        Finally For From Furthermore Hence How However If In It Its Meanwhile Moreover No Not Now
        Of On Once Only Or Our Please Recently Similarly Since So Some That The Their Then There
        Therefore These They This Those Though Thus To Today Under Until We What When Where Which
        While Who Why With Yet You Your""",
    )
)
"""Words with a capital letter at the beginning of a sentence, no part of the name after them."""


def shared_terms(parts: Sequence[str]) -> tuple[frozenset[str], ...]:
    """For each part of a text, the terms in it that another part has as well.

    A term is a name of several capitalised words, an abbreviation that some part defines in
    brackets, inline code, an identifier with an underscore or a capital inside, or what stands
    between double quotation marks. White space in terms is one space. At most `MOST_TERMS`
    different ones are given, the commonest first, so that the work is bounded.
    """
    defined = frozenset(m.group(1) for part in parts for m in _TERMS["defined"].finditer(part))
    by_part = [frozenset(_find_terms(part, defined)) for part in parts]
    counted = Counter(term for terms in by_part for term in terms)
    ranked = sorted((-count, term) for term, count in counted.items() if count > 1)
    kept = frozenset(term for _, term in ranked[:MOST_TERMS])
    return tuple(terms & kept for terms in by_part)


def _find_terms(part: str, defined: frozenset[str]) -> Iterator[str]:
    for match in _TERMS["name"].finditer(part):
        words = match.group().split()
        while words and (words[0] in _OPENING or words[0].islower()):
            words.pop(0)
        if len(words) > 1:
            yield " ".join(words)
        # What opens a sentence may have its capital letter from that alone.
        if len(words) > 2 and not part[max(0, match.start() - 3) : match.start()].strip(_ENDS):
            yield " ".join(words[1:])
    yield from (m.group() for m in _TERMS["abbreviation"].finditer(part) if m.group() in defined)
    for pattern in (_TERMS["code"], _TERMS["identifier"], _TERMS["quoted"]):
        for match in pattern.finditer(part):
            term = next(filter(None, match.groups()), match.group())
            flat = " ".join(term.split())
            if flat and len(flat) <= _LONGEST:
                yield flat
