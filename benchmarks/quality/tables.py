"""Tables, for the terminal and for the documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text under a header."""

    name: str
    """The name in the markers of its place in a document."""
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    """Columns that hold words and stand on the left; the others hold numbers."""

    def as_text(self) -> str:
        """The title and the table in columns."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[n]) for line in lines) for n in range(len(self.header))]
        shown = ["  ".join(self._cell(n, line[n], widths[n]) for n in range(len(line)))
                 for line in lines]  # fmt: skip
        return "\n".join([self.title, *(f"  {line}".rstrip() for line in shown)])

    def as_markdown(self) -> str:
        """The table alone."""
        marks = ["---" if n < self.words else "---:" for n in range(len(self.header))]
        return "\n".join(_row(cells) for cells in (self.header, marks, *self.rows))

    def _cell(self, column: int, text: str, width: int) -> str:
        return f"{text:<{width}}" if column < self.words else f"{text:>{width}}"


def put_into(document: Path, parts: Sequence[tuple[str, str]]) -> None:
    """Put texts between their markers, `<!-- NAME -->` and `<!-- /NAME -->`.

    Raises:
        ValueError: A marker is missing; the document is unchanged.
    """
    text = document.read_text(encoding="utf-8")
    for name, body in parts:
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if begin not in text or end not in text:
            raise ValueError(f"{document} has no {begin} ... {end}")
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n\n{body}\n\n{end}{rest.split(end, 1)[1]}"
    document.write_text(text, encoding="utf-8")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
