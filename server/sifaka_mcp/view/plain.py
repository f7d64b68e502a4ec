"""What the views take from Rich, for terminals and pipes where it is not installed: plain text."""

from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import Any, Self, TextIO
from unicodedata import combining, east_asian_width


def cell_len(text: str) -> int:
    """The columns that a text takes: two for a wide character, none for a combining one."""
    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


class Text:
    """A text whose styles are left out."""

    def __init__(self, plain: str = "", style: str = "", **options: object) -> None:
        self.plain = plain

    def __str__(self) -> str:
        return self.plain

    def __len__(self) -> int:
        return len(self.plain)

    @classmethod
    def assemble(cls, *parts: "str | Text | tuple[str, str]") -> "Text":
        """The parts, one after the other."""
        return cls("".join(str(part[0] if isinstance(part, tuple) else part) for part in parts))

    def append(self, text: "str | Text", style: str = "") -> Self:
        """Add a part at the end."""
        self.plain += str(text)
        return self

    def split(self, separator: str = "\n", *, allow_blank: bool = False) -> list["Text"]:
        """The parts between separators."""
        parts = self.plain.split(separator)
        return [Text(part) for part in (parts if allow_blank or parts[-1] else parts[:-1])]


class Table:
    """Rows in columns, each as wide as its widest cell."""

    def __init__(self, **options: object) -> None:
        self._rows: list[list[list[str]]] = [[]]

    def add_column(self, name: str, **options: object) -> None:
        """Add a column by its heading."""
        self._rows[0].append([name])

    def add_row(self, *cells: "str | Text") -> None:
        """Add a row; a cell may have several lines."""
        self._rows.append([str(cell).split("\n") for cell in cells])

    def __str__(self) -> str:
        return "\n".join(line for row in self._rows for line in self._lines(row))

    def _lines(self, row: Sequence[Sequence[str]]) -> Iterable[str]:
        widths = [max(cell_len(line) for cell in column for line in cell) for column in self._all()]
        for number in range(max(map(len, row))):
            cells = [cell[number] if number < len(cell) else "" for cell in row]
            padded = (
                cell + " " * (width - cell_len(cell))
                for cell, width in zip(cells, widths, strict=True)
            )
            yield "  ".join(padded).rstrip()

    def _all(self) -> Iterable[tuple[list[str], ...]]:
        return zip(*self._rows, strict=True)


class Console:
    """Prints to a stream, whose lines are never broken."""

    is_terminal = False

    def __init__(self, *, file: TextIO, **options: object) -> None:
        self._file = file
        self.encoding = (getattr(file, "encoding", None) or "utf-8").lower()

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return get_terminal_size().columns

    def print(self, *values: Any, **options: object) -> None:
        """Print values, and a line end."""
        print(*values, file=self._file)
