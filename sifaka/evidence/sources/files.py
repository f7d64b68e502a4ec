"""The files below a folder and their texts, long ones in parts."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sifaka._internal.safe_open import opened
from sifaka.evidence.sources.readers import READERS, Page, Reading, decoded
from sifaka.text.markdown import front_matter

_PLAIN = frozenset({".md", ".txt", ".rst", ".csv", ".json"})
SUFFIXES = _PLAIN | frozenset(READERS)
_UNREAD = frozenset(
    {".doc", ".epub", ".odp", ".ods", ".odt", ".pages", ".ppt", ".pptx", ".rtf", ".xls", ".xlsx"}
)
"""Kinds of documents that are told to be left out; other files are no documents."""
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


BEYOND = "beyond what is read of a folder"


def files_below(folder: Path, most: int) -> tuple[dict[str, FileState], dict[str, str]]:
    """The files of a folder and its subfolders, by their paths below it, in alphabetical order.

    Returns:
        The first `most`, and the reasons that others are left out, by their paths.

    Raises:
        OSError: The folder itself cannot be read.
    """
    root = folder.resolve(strict=True)
    with os.scandir(root):
        pass  # raises for what is no folder, or may not be read
    found: dict[str, FileState] = {}
    left_out: dict[str, str] = {}
    for path in _walked(root):
        name = path.relative_to(root).as_posix()
        state = _state(path, root)
        if path.suffix.lower() in _UNREAD:
            left_out[name] = f"{path.suffix.lower()} is not read"
        elif isinstance(state, str):
            left_out[name] = state
        else:
            found[name] = state
    names = sorted(found)
    left_out |= dict.fromkeys(names[most:], BEYOND)
    return {name: found[name] for name in names[:most]}, left_out


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
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES | _UNREAD:
                yield Path(folder, name)


def _state(path: Path, root: Path) -> FileState | str:
    """The state of the file at a path, or the reason that it is no file of the folder."""
    try:
        # A link may have a name that says nothing of what it leads to.
        with opened(path, root, hidden=False) as file:
            told = os.fstat(file.stream.fileno())
            return FileState(real=file.real, size=told.st_size, changed=told.st_mtime_ns)
    except OSError as error:
        return (error.strerror or "cannot be read").lower()


LARGEST = 2_000_000
"""Bytes of a text that is read."""
LARGEST_DOCUMENT = 20_000_000
"""Bytes of a PDF or DOCX, most of which are no text."""
_PACKED = frozenset({".pdf", ".docx"})
_AUTHOR, _DATE = (
    re.compile(rf"^:?(?:{names}):[ \t]*[\"']?([^\n\"']+)", re.IGNORECASE | re.MULTILINE)
    for names in ("authors?", "date|published|updated|last_modified|lastmod")
)
"""The lines of them in the front matter of Markdown, or in the fields that begin an RST."""


def is_packed(path: Path) -> bool:
    """True for a file most of whose bytes are no text."""
    return path.suffix.lower() in _PACKED


def plain_reading(path: Path, content: bytes) -> Reading:
    """A text that needs no reader.

    Raises:
        NotText: It is binary, or neither UTF-8 nor UTF-16.
    """
    text = decoded(content).strip()
    author, date = (_own(line, path.suffix.lower(), text) for line in (_AUTHOR, _DATE))
    return Reading("", author, date, (Page("", text),) if text else ())


def _own(line: re.Pattern[str], suffix: str, text: str) -> str:
    """The author or date that a text gives itself at its beginning; empty without one."""
    begins = {".md": front_matter(text), ".rst": 1_000}.get(suffix, 0)
    found = line.search(text[:begins])
    return found[1].strip() if found and (suffix == ".md" or found[0].startswith(":")) else ""


MOST_CHARS = 20_000
"""Of a part."""
_HEADING = re.compile(r"\A(?:---\n.*?\n---\n)?\s*#{1,3} +(.+)", re.DOTALL)
_TITLE = 120


def title_of(text: str, path: str) -> str:
    """The heading that a text begins with, else the name of its file."""
    heading = _HEADING.match(text[:4_000])
    title = " ".join(heading[1].splitlines()[0].strip(" #").split()) if heading else ""
    return title[:_TITLE] or PurePosixPath(path).name
