"""A Markdown text cut into its parts, each with its place in the text."""

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sifaka.text.prose import Span

if TYPE_CHECKING:
    from markdown_it.token import Token

_NEWLINE = re.compile(r"\r\n|\n|\r")
_FRONT_MATTER = re.compile(
    r"\ufeff?(?P<mark>---|\+\+\+)[ \t]*(?:\r\n|\n)"
    r"(?:(?=[ \t]*(?:#|[\w\"'-]+[ \t]*[:=]|(?P=mark)))(?:.*?(?:\r\n|\n))??"
    r"(?P=mark)[ \t]*(?:(?:\r\n|\n)|\Z))",
    re.DOTALL,
)
_BACKTICKS = re.compile(r"`+")
_TAG_OR_ESCAPE = re.compile(r"\\[\[\]()`<>!\\]|<!--.*?(?:-->|\Z)|<[A-Za-z/!?][^<>\n]*>", re.DOTALL)


def front_matter(text: str) -> int:
    """How many characters of the beginning are YAML or TOML front matter."""
    match = _FRONT_MATTER.match(text)
    return match.end() if match else 0


class MarkdownSource:
    """The blocks of a text, front matter left out.

    Args:
        text: The whole text.
    """

    def __init__(self, text: str) -> None:
        from markdown_it import MarkdownIt

        self.text = text
        self.shift = front_matter(text)
        self.body = text[self.shift :]
        parser = MarkdownIt("commonmark").enable("table")
        # Inline structure is not asked for, and takes most of the time.
        parser.core.ruler.disable(["inline"])
        environment: dict[str, Any] = {}
        self.tokens: list[Token] = parser.parse(self.body, environment)
        self.references: frozenset[str] = frozenset(environment.get("references", {}))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.body)), len(self.body)]

    def lines(self, first: int, last: int) -> Span:
        """The place of the lines from `first` up to `last`, without the final line break."""
        starts = self._starts
        start = starts[min(first, len(starts) - 1)]
        end = starts[min(last, len(starts) - 1)]
        end -= len(self.body[start:end]) - len(self.body[start:end].rstrip("\r\n"))
        return start + self.shift, end + self.shift

    def line(self, number: int) -> str:
        """One line without its line break."""
        start, end = self.lines(number, number + 1)
        return self.text[start:end]

    @cached_property
    def prose_blocks(self) -> list[Span]:
        """Where paragraphs, headings and tables stand."""
        kinds = {"paragraph_open", "heading_open", "table_open"}
        return [
            self.lines(*token.map) for token in self.tokens if token.type in kinds and token.map
        ]

    def masked(self, span: Span) -> str:
        """A block with spaces in place of inline code, tags and escapes; offsets stay."""
        block = list(self.text[span[0] : span[1]])
        for start, end in _inline_code("".join(block)):
            block[start:end] = " " * (end - start)
        return _TAG_OR_ESCAPE.sub(lambda match: " " * len(match.group()), "".join(block))


def _inline_code(block: str) -> list[Span]:
    runs = [match.span() for match in _BACKTICKS.finditer(block)]
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
        if close is None:
            at += 1
        else:
            spans.append((runs[at][0], runs[close][1]))
            at = close + 1
    return spans
