"""The parts of a report in Markdown: headings, markers such as [2], and the list of references."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sifaka.text.markdown import Markdown
from sifaka.text.prose import Span, blanked

UNWRITTEN = "_To be written._"
"""The line in place of a section that is still to be written."""
REFERENCES = "References"
"""The heading of the list of references."""

_NUMBERED = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")
_MARKER = re.compile(r"\[\^?(\d{1,4}(?:\s*[,;]\s*\^?\d{1,4})*)\]")
_ENTRY = re.compile(r"\s*(?:[-*+]\s+)?(?:\[\^?(\d{1,4})\]:?|(\d{1,4})[.)])\s+(\S.*)$")
_ADDRESS = re.compile(r"https?://[^\s<>\"`]+")
_TRAILING = "/.,;:!?'\"*_"
_CLOSING = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset("()[]{}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the list of references."""

    number: int
    text: str
    place: Span

    @property
    def addresses(self) -> tuple[str, ...]:
        """The web addresses it names, without the punctuation around them."""
        return tuple(bare_address(found) for found in _ADDRESS.findall(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLines:
    """The parts of a report."""

    text: str
    headings: tuple[tuple[str, Span], ...]
    """The titles, and where their lines stand."""
    unwritten: tuple[Span, ...]
    """The lines that stand for sections yet to be written."""
    markers: tuple[tuple[int, Span], ...]
    """The numbers that are cited before the list of references, and where."""
    entries: tuple[Entry, ...]

    @property
    def beginning(self) -> Span:
        """The first line that says something."""
        at = len(self.text) - len(self.text.lstrip())
        return at, at + len(self.text[at:].partition("\n")[0].rstrip())

    def section_at(self, offset: int) -> str:
        """The title of the last heading before an offset; empty where there is none."""
        at = bisect_right(self.headings, offset, key=lambda heading: heading[1][0])
        return self.headings[at - 1][0] if at else ""


def read_report(text: str) -> ReportLines:
    """Take a report apart; what stands in code is no part of it."""
    document = Markdown(text, 0)
    plain = blanked(text, document.code)
    headings: list[tuple[str, Span]] = []
    unwritten: list[Span] = []
    markers: list[tuple[int, Span]] = []
    entries: list[Entry] = []
    in_references = False
    for block in document.blocks:
        if block.level:
            own = text[block.start : block.stop].rstrip()
            headings.append((block.title, (block.start, block.start + len(own))))
            in_references = heading_key(block.title) == heading_key(REFERENCES)
            continue
        at = block.start
        for line in text[block.start : block.end].splitlines(keepends=True):
            start, at = at, at + len(line)
            if not plain[start:at].strip():
                continue
            place = start, start + len(line.rstrip())
            if line.strip() == UNWRITTEN:
                unwritten.append(place)
            elif in_references and (entry := _ENTRY.match(line)):
                entries.append(Entry(int(entry[1] or entry[2]), entry[3].rstrip(), place))
            elif not in_references:
                markers += _cited(plain[start:at], start)
    return ReportLines(
        text=text,
        headings=tuple(headings),
        unwritten=tuple(unwritten),
        markers=tuple(markers),
        entries=tuple(entries),
    )


def heading_key(title: str) -> str:
    """The same for one heading however it is numbered, emphasised or spaced."""
    words = " ".join(title.replace("*", "").replace("`", "").split())
    return _NUMBERED.sub("", words).rstrip(".:").casefold()


def _cited(line: str, start: int) -> Iterator[tuple[int, Span]]:
    for numbers, (first, end) in markers_in(line):
        if line[end : end + 1] not in {"(", ":"}:  # it is a link
            yield from ((n, (start + first, start + end)) for n in numbers)


def markers_in(plain: str) -> Iterator[tuple[tuple[int, ...], Span]]:
    """The numbers of each marker in a text whose code is blanked, and its place."""
    for found in _MARKER.finditer(plain):
        yield tuple(map(int, re.findall(r"\d+", found[1]))), found.span()


def bare_address(address: str) -> str:
    """An address without what closes the sentence, or the bracket, that it stands in."""
    end = len(address)
    left = Counter(each for each in address if each in _BRACKETS)
    while end:
        last = address[end - 1]
        opening = _CLOSING.get(last)
        unmatched = opening is not None and left[last] > left[opening]
        if last not in _TRAILING and not unmatched:
            break
        left[last] -= 1
        end -= 1
    return address[:end]
