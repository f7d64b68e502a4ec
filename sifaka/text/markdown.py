"""The one reader of Markdown: its blocks, fences and code, with their places in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from sifaka.text.prose import Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NEWLINE = re.compile(r"\r\n|\n|\r")
_FRONT_MATTER = re.compile(
    # A rule at the top is none: the next line has to look like data.
    r"\ufeff?(?P<mark>---|\+\+\+)[ \t]*(?:\r\n|\n|\r)"
    r"(?:(?=[ \t]*(?:#|\[|[\w\"'-]+[ \t]*[:=]|(?P=mark)))(?:.*?(?:\r\n|\n|\r))??"
    r"(?:(?P=mark)|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z))",
    re.DOTALL,
)
_BACKTICKS = re.compile(r"`+")
_WRAPPED = re.compile(
    r"(?<![`\w\\])(`{1,2})(?![`\s])[^`\n]{1,100}\n(?![ \t]*\n)[^`\n]{1,100}(?<!\s)\1(?![`\w])"
)
"""Code over two lines."""
_TAG_OR_ESCAPE = re.compile(r"\\[\[\]()`<>!\\]|<!--.*?(?:-->|\Z)|<[A-Za-z/!?][^<>\n]*>", re.DOTALL)
_LEAVES = frozenset({"paragraph_open", "heading_open", "tr_open", "html_block", "code_block"})
"""Blocks of which none is in another, and that are no fence."""
Kind = Literal["heading", "fence", "list", "table", "other"]
_KINDS: dict[str, Kind] = {
    "heading_open": "heading",
    "fence": "fence",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
}
# No Markdown, yet their lines mean something: rows without a delimiter row, and typed bullets.
_LOOKS: dict[str, Kind] = {"|": "table", "•": "list"}


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of whole lines that no container holds, blank lines after it included."""

    kind: Kind
    start: int
    end: int
    stop: int
    """The end of its own lines, line break included, before blank lines."""
    level: int = 0
    """1 to 6 for a heading."""
    title: str = ""
    """The text of a heading, as it stands."""

    @property
    def by_line(self) -> bool:
        """True when its lines mean something: it is code, a list or a table."""
        return self.kind in {"fence", "list", "table"}


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block of code, wherever it stands."""

    line: int
    """The offset of its first line."""
    start: int
    """The offset of its opening mark."""
    end: int
    """The end of its last line, without the line break."""
    mark: str
    depth: int
    """The number of containers around it."""
    closed: bool


class Markdown:
    """A text read as CommonMark with tables; places are in characters of the whole text.

    Inline structure is read for code alone, in linear time. What stands in more than ten lists or
    twenty quotes within each other is not read.

    Args:
        text: The whole text.
        start: Where Markdown begins; after the front matter when None.
    """

    def __init__(self, text: str, start: int | None = None) -> None:
        self.text = text
        self.start = front_matter(text) if start is None else start
        self.body = text[self.start :]
        environment: dict[str, Any] = {}
        self.tokens: list[Token] = _make_parser().parse(self.body, environment)
        self.references: frozenset[str] = frozenset(environment.get("references", {}))

    @cached_property
    def _line_starts(self) -> list[int]:
        ends = (match.end() for match in _NEWLINE.finditer(self.body))
        return [self.start, *(self.start + end for end in ends), len(self.text)]

    def place(self, first: int, last: int) -> Span:
        """The place of the lines from `first` up to `last`, without the final line break."""
        start, end = self._find_lines(first, last)
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def line(self, number: int) -> str:
        """One line without its line break."""
        return self.text[slice(*self.place(number, number + 1))]

    def _find_lines(self, first: int, last: int) -> Span:
        starts = self._line_starts
        return starts[min(first, len(starts) - 1)], starts[min(last, len(starts) - 1)]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that no container holds; put together they are all of the text."""
        return tuple(self._find_blocks())

    def _find_blocks(self) -> Iterator[Block]:
        done = 0
        for at, token in enumerate(self.tokens):
            if token.level or token.map is None:
                continue
            first, last = token.map
            yield from self._read_gap(done, first)
            done = self._trim_blank(first, last)
            start, stop = self._find_lines(first, done)
            kind = _KINDS.get(token.type) or _LOOKS.get(self.text[start : start + 1], "other")
            level, title = 0, ""
            if kind == "heading":
                level = int(token.tag[1:])
                title = " ".join(map(str.strip, self.tokens[at + 1].content.split("\n")))
            done = self._skip_blank(done)
            yield Block(kind, start, self._find_lines(first, done)[1], stop, level, title)
        yield from self._read_gap(done, len(self._line_starts) - 1)

    def _read_gap(self, first: int, last: int) -> Iterator[Block]:
        """Blank lines at the beginning, and definitions, which the parser takes out."""
        start, end = self._find_lines(first, last)
        if start < end:
            yield Block("other", start, end, end)

    def _trim_blank(self, first: int, last: int) -> int:
        while last > first + 1 and not self.line(last - 1).strip(" \t"):
            last -= 1
        return last

    def _skip_blank(self, line: int) -> int:
        while line < len(self._line_starts) - 1 and not self.line(line).strip(" \t"):
            line += 1
        return line

    @cached_property
    def fences(self) -> tuple[Fence, ...]:
        """All fenced blocks of code; one that is not closed ends with its container."""
        tokens = [token for token in self.tokens if token.type == "fence"]
        return tuple(self._read_fence(token, *token.map) for token in tokens if token.map)

    def _read_fence(self, token: "Token", first: int, last: int) -> Fence:
        start, end = self.place(first, last)
        lines = len(token.content.removesuffix("\n").split("\n")) if token.content else 0
        return Fence(
            line=start,
            start=self.text.index(token.markup, start),
            end=end,
            mark=token.markup,
            depth=token.level,
            closed=last - first - 1 > lines,
        )

    @cached_property
    def code(self) -> list[Span]:
        """Fenced blocks and inline code, marks included, in their order.

        One or two backticks that meet their like only on a later line are taken for strays, where
        CommonMark has code between them, unless they look like code over two lines.
        """
        spans = [(fence.start, fence.end) for fence in self.fences]
        for token in self.tokens:
            if token.type in _LEAVES and token.map is not None:
                spans += _find_inline_code(self.text, *self.place(*token.map), strays=True)
        return sorted(spans)

    def places(self, *types: str) -> list[Span]:
        """The places of the parser's blocks of some types, such as `paragraph_open`."""
        return [self.place(*each.map) for each in self.tokens if each.type in types and each.map]

    def masked(self, span: Span) -> str:
        """A stretch with spaces in place of inline code, tags and escapes; offsets stay."""
        block = list(self.text[slice(*span)])
        for start, end in _find_inline_code(self.text, *span):
            block[start - span[0] : end - span[0]] = " " * (end - start)
        return _TAG_OR_ESCAPE.sub(lambda match: " " * len(match.group()), "".join(block))


def front_matter(text: str) -> int:
    """The offset after the YAML or TOML front matter of a text; 0 when it has none."""
    match = _FRONT_MATTER.match(text)
    return match.end() if match else 0


@lru_cache(maxsize=2)
def read_markdown(text: str) -> Markdown:
    """The text read as Markdown; a text and its original are kept: several parts ask for both."""
    return Markdown(text)


def code_spans(text: str) -> list[Span]:
    """Fenced blocks and inline code, marks included, in their order."""
    # The parser takes longer to import than most texts to read.
    return read_markdown(text).code if "`" in text or "~~~" in text else []


def open_fence(text: str) -> str:
    """The mark that closes the block of code which is open at the end; empty without one."""
    last = Markdown(text).fences[-1:]
    return last[0].mark if last and not last[0].depth and not last[0].closed else ""


@cache
def _make_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    class Parser(MarkdownIt):
        def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
            """The address as it stands: nothing is rendered, and to encode it takes long."""
            return url

    parser = Parser("commonmark").enable("table")
    # Inline structure takes most of the time, and quadratic time for some texts.
    parser.core.ruler.disable(["inline"])
    return parser


def _find_inline_code(text: str, first: int, last: int, *, strays: bool = False) -> list[Span]:
    """The stretches between equal runs of backticks, in linear time."""
    runs = [match.span() for match in _BACKTICKS.finditer(text, first, last)]
    following: dict[int, int] = {}
    closes: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closes[at] = following.get(length)
        following[length] = at
    spans: list[Span] = []
    at = 0
    while at < len(runs):
        close = closes[at]
        begin, inside = runs[at]
        if close is None or (
            strays
            and inside - begin < 3
            and _NEWLINE.search(text, inside, runs[close][0])
            and not _WRAPPED.match(text, begin)
        ):
            at += 1
        else:
            spans.append((begin, runs[close][1]))
            at = close + 1
    return spans
