"""Foreign words on lines of ours."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

COMMANDS = re.compile(
    r"(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Control characters of terminals, and marks that reorder the words shown."""


_HIDDEN = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
"""Characters that nobody sees, but for those that join letters and emoji."""


def section(title: str, lines: Iterable[str]) -> list[str]:
    """A title with indented lines below it; nothing where there are no lines."""
    body = list(lines)
    return [f"{title}:", *(f"  {line}" for line in body)] if body else []


def flat(text: str) -> str:
    """The words on one line, without characters that move the cursor or reorder what is read."""
    line = " ".join(text.split()).replace("![", "!\\[")  # which would load an image
    return line if line.isprintable() else "".join(c for c in line if c.isprintable())


def shown(text: str) -> str:
    """The text without characters that nobody sees."""
    return text if text.isascii() else _HIDDEN.sub("", text)


def visible(text: str) -> str:
    """The text as a terminal may show it: its lines as they are, what it would obey spelt out."""
    return COMMANDS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    """The text on one line that no terminal obeys, nor what reads a log for commands."""
    line = visible(text.replace("\r\n", "\n")).replace("\n", "\\n")
    return line.replace("##[", "# #[")  # a command of workflows, wherever it is in a line


def short(text: str, most: int = 80) -> str:
    """The words, with their middle left out when there are too many."""
    return text if len(text) <= most else f"{text[: most - 20]}...{text[-15:]}"


def parts_of(node: object, name: str = "") -> Iterator[tuple[Any, str, object]]:
    """Each part of a value of JSON: what it lies in, the field that it is in or of, and it."""
    if isinstance(node, dict):
        for key, value in cast("dict[str, object]", node).items():
            yield node, key, value
            yield from parts_of(value, key)
    elif isinstance(node, list):
        for item in cast("list[object]", node):
            yield node, name, item
            yield from parts_of(item, name)


def because(reason: str | None) -> str:
    """The reason of a change in brackets; empty where there is none."""
    return f" ({flat(reason)})" if reason else ""
