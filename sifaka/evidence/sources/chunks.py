"""Long texts in parts that a search can tell apart."""

import re
from pathlib import PurePosixPath

MOST_CHARS = 20_000
"""Of a part."""
_HEADING = re.compile(r"\A(?:---\n.*?\n---\n)?\s*#{1,3} +(.+)", re.DOTALL)
_TITLE = 120


def parts_of(text: str, most: int = MOST_CHARS) -> tuple[str, ...]:
    """The text in parts of at most `most` characters, cut between paragraphs or else lines.

    A text that is short enough is one part; an empty one has none.
    """
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > most:
        begun = rest[:most]
        cut = max(begun.rfind(mark) for mark in ("\n\n", "\n# "))
        # A cut near the beginning would make a part of next to nothing.
        for mark in ("\n", ". ", " "):
            if cut >= most // 2:
                break
            cut = max(cut, begun.rfind(mark) + len(mark) - 1)
        cut = cut if cut >= most // 2 else most
        parts.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return tuple(part for part in (*parts, rest) if part)


def title_of(text: str, path: str) -> str:
    """The heading that a text begins with, else the name of its file."""
    heading = _HEADING.match(text[:4_000])
    title = " ".join(heading[1].splitlines()[0].strip(" #").split()) if heading else ""
    return title[:_TITLE] or PurePosixPath(path).name
