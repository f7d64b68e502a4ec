"""The texts of the files below a folder, long ones in parts."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sifaka.evidence.sources.html import plain_text

SUFFIXES = frozenset({".md", ".txt", ".rst", ".html", ".htm", ".csv", ".json"})
MOST_FILES = 2_000
_MOST_ENTRIES = 50_000
"""Names that are looked at, of whatever kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file as it is now; equal states mean that nothing has changed."""

    real: Path
    """Its real path, without links."""
    size: int
    changed: int
    """Nanoseconds since 1970."""


def files_below(folder: Path, most: int) -> tuple[dict[str, FileState], tuple[str, ...]]:
    """The files of a folder and its subfolders, by their paths below it, in alphabetical order.

    Returns:
        The first `most`, and the paths of those beyond.

    Raises:
        OSError: The folder itself cannot be read.
    """
    root = folder.resolve(strict=True)
    with os.scandir(root):
        pass  # raises for what is no folder, or may not be read
    found: dict[str, FileState] = {}
    for path in _walked(root):
        state = _state(path, root)
        if state is not None:
            found[path.relative_to(root).as_posix()] = state
    names = sorted(found)
    return {name: found[name] for name in names[:most]}, tuple(names[most:])


def _walked(root: Path) -> Iterator[Path]:
    """Every name with a known suffix; folders that are links are not entered, so it ends."""
    looked_at = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        looked_at += len(folders)
        if looked_at > _MOST_ENTRIES:
            return
        for name in sorted(names):
            looked_at += 1
            if looked_at > _MOST_ENTRIES:
                return
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                yield Path(folder, name)


def _state(path: Path, root: Path) -> FileState | None:
    """The state of the file at a path; None when it is no file of the folder."""
    try:
        real = path.resolve(strict=True)
        told = real.stat()
    except (OSError, RuntimeError):  # a broken link, or one to itself
        return None
    if not real.is_relative_to(root) or not stat.S_ISREG(told.st_mode):
        return None
    # A link may have a name that says nothing of what it leads to.
    if any(part.startswith(".") for part in real.relative_to(root).parts):
        return None
    return FileState(real=real, size=told.st_size, changed=told.st_mtime_ns)


LARGEST = 2_000_000
"""Bytes of a file that is read."""
_LOOKED_AT = 8_192
_HTML = frozenset({".html", ".htm"})


class NotText(ValueError):
    """The content of a file is no text; the message says why in a few words."""


def file_text(path: Path, largest: int = LARGEST) -> str:
    """The text of a file; of HTML what a reader sees.

    Args:
        path: The file; a link is not followed.
        largest: Bytes.

    Raises:
        NotText: It is too large, binary, not UTF-8, or not a plain file.
        OSError: It cannot be read.
    """
    content = _content(path, largest)
    if b"\0" in content[:_LOOKED_AT]:
        raise NotText("binary")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotText("not UTF-8") from error
    if path.suffix.lower() in _HTML:
        text = plain_text(text, tables=True)
    if "\0" in text:
        raise NotText("binary")
    return text.strip()


def _content(path: Path, largest: int) -> bytes:
    # What was a file a moment ago may be a link or a pipe by now, which must not be followed or
    # waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - of a descriptor
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotText("not a file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise NotText(f"larger than {largest} bytes")
    return content


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
