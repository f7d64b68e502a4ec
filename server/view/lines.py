"""Foreign words on lines of ours."""

from collections.abc import Iterable


def section(title: str, lines: Iterable[str]) -> list[str]:
    """A title with indented lines below it; nothing where there are no lines."""
    body = list(lines)
    return [f"{title}:", *(f"  {line}" for line in body)] if body else []


def flat(text: str) -> str:
    """The words on one line, without characters that move the cursor or reorder what is read."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c for c in line if c.isprintable())


def short(text: str, most: int = 80) -> str:
    """The words, with their middle left out when there are too many."""
    return text if len(text) <= most else f"{text[: most - 20]}...{text[-15:]}"
