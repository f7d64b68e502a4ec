"""What the views take from Rich, for terminals and pipes where it is not installed: plain text."""

from typing import Any, Self, TextIO


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


class Console:
    """Prints to a stream, whose lines are never broken."""

    is_terminal = False

    def __init__(self, *, file: TextIO, **options: object) -> None:
        self._file = file

    def print(self, *values: Any, **options: object) -> None:
        """Print values, and a line end."""
        print(*values, file=self._file)
