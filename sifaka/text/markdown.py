"""The blocks of a Markdown text: headings, paragraphs, lists, tables, code, one after another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+•]|\d{1,9}[.)])(?:[ \t]|$)")
_ROW = re.compile(r" {0,3}\|")
_LONGEST_UNDERLINED = 3
"""Lines of a heading that is marked by a line under it."""
_FRONT = {"---": ("---", "..."), "+++": ("+++",)}
"""What front matter begins with, and what it can end with."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of whole lines, blank lines after it included."""

    start: int
    end: int
    level: int = 0
    """1 to 6 for a heading."""
    title: str = ""
    heading_end: int = 0
    """Where the lines of a heading end, before blank lines."""
    code: bool = False
    """Whether it is a fenced block."""
    by_line: bool = False
    """Whether its lines mean something: it is code, a list or a table."""


def front_matter(text: str) -> int:
    """The offset after the front matter of a text; 0 when it has none."""
    lines = _lines(text)
    first = next(lines, None)
    closing = _FRONT.get(first[2].rstrip()) if first is not None else None
    if closing is None:
        return 0
    return next((end for _, end, line in lines if line.rstrip() in closing), 0)


def blocks_of(text: str, start: int = 0) -> tuple[Block, ...]:
    """The blocks from an offset on; put together they are all of the text.

    Nothing inside a fenced block is a heading. A list goes on over blank lines and its indented
    paragraphs.
    """
    reader = _Reader()
    for begin, end, line in _lines(text, start):
        reader.read(begin, end, line)
    return reader.finished()


def open_fence(text: str) -> str:
    """The fence that closes the block of code which is open at the end; empty without one."""
    reader = _Reader()
    for begin, end, line in _lines(text):
        reader.read(begin, end, line)
    return reader.fence


class _Reader:
    """Reads line by line."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._start = 0
        self._lines: list[str] = []
        """Of the block that is open, blank ones after it included."""
        self._end = 0
        self._fence = ""
        self._code = self._list = False
        self._heading: tuple[int, str] | None = None
        self._heading_end = 0

    @property
    def fence(self) -> str:
        """What has opened the fenced block that is open; empty when none is."""
        return self._fence

    def read(self, start: int, end: int, line: str) -> None:
        """Take in the next line."""
        if self._fence:
            self._take(end, line)
            if _closes(self._fence, line):
                self._fence = ""
            return
        if not line.strip():
            if not self._lines:
                self._begin(start)
            self._take(end, line)
            return
        inside_list = self._list and line[:1] in " \t"
        fence = _FENCE.match(line)
        if fence and (inside_list or len(fence.group(1).expandtabs(4)) < 4):
            if not inside_list:
                self._begin(start)
                self._code = True
            self._fence = fence.group(2)
            self._take(end, line)
        elif not inside_list and (heading := _ATX.match(line)):
            self._begin(start)
            self._take(end, line)
            self._mark(len(heading.group(1)), heading.group(2) or "", end)
        elif (under := _UNDERLINE.match(line)) and self._can_be_underlined():
            title = " ".join(each.strip() for each in self._lines)
            self._take(end, line)
            self._mark(1 if under.group(1)[0] == "=" else 2, title, end)
        elif self._goes_on(line):
            self._take(end, line)
        else:
            self._begin(start)
            self._list = _ITEM.match(line) is not None
            self._take(end, line)

    def finished(self) -> tuple[Block, ...]:
        """All blocks."""
        self._begin(self._end)
        return tuple(self._blocks)

    def _goes_on(self, line: str) -> bool:
        if not self._lines or self._heading or self._code:
            return False
        if self._lines[-1].strip():
            return True
        return self._list and (line[:1] in " \t" or _ITEM.match(line) is not None)

    def _can_be_underlined(self) -> bool:
        plain = not (self._heading or self._code or self._list)
        short = 0 < len(self._lines) <= _LONGEST_UNDERLINED
        return (
            plain
            and short
            and all(each.strip() and not each.startswith("    ") for each in self._lines)
            and not self._lines[0].lstrip().startswith((">", "|"))
        )

    def _mark(self, level: int, title: str, end: int) -> None:
        self._heading, self._heading_end = (level, title.strip()), end

    def _take(self, end: int, line: str) -> None:
        self._lines.append(line)
        self._end = end

    def _begin(self, start: int) -> None:
        """Close the block that is open, and open the next one."""
        if self._lines:
            level, title = self._heading or (0, "")
            self._blocks.append(
                Block(
                    start=self._start,
                    end=self._end,
                    level=level,
                    title=title,
                    heading_end=self._heading_end if level else 0,
                    code=self._code,
                    by_line=self._code or self._list or _ROW.match(self._lines[0]) is not None,
                )
            )
        self._start, self._lines, self._heading = start, [], None
        self._code = self._list = False


def _closes(fence: str, line: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def _lines(text: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Start, end and content of each line, its end not in the content."""
    for match in _LINE.finditer(text, start):
        yield match.start(), match.end(), match.group().rstrip("\r\n")
