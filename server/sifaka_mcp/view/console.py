"""Rich, with colours and wrapped lines; plain text where the extra `cli` is not installed."""

from typing import TYPE_CHECKING, Any, Self, TextIO


class PlainText:
    """What the views take from Rich's `Text`; its styles are left out."""

    def __init__(self, plain: str = "", style: str = "", **options: object) -> None:
        self.plain = plain

    def __str__(self) -> str:
        return self.plain

    def __len__(self) -> int:
        return len(self.plain)

    @classmethod
    def assemble(cls, *parts: "str | PlainText | tuple[str, str]") -> Self:
        """The parts, one after the other."""
        return cls("".join(str(part[0] if isinstance(part, tuple) else part) for part in parts))

    def append(self, text: "str | PlainText", style: str = "") -> Self:
        """Add a part at the end."""
        self.plain += str(text)
        return self


class PlainConsole:
    """Prints to a stream, whose lines are never broken."""

    is_terminal = False

    def __init__(self, *, file: TextIO, **options: object) -> None:
        self._file = file

    def print(self, *values: Any, **options: object) -> None:
        """Print values, and a line end."""
        print(*values, file=self._file)


if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
else:
    try:
        from rich.console import Console
        from rich.text import Text
    except ModuleNotFoundError:
        Console, Text = PlainConsole, PlainText

__all__ = ["Console", "Text"]
