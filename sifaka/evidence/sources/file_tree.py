"""The files below a folder that may hold text."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = frozenset({".md", ".txt", ".rst", ".html", ".htm", ".csv", ".json"})
MOST_FILES = 2_000
_MOST_ENTRIES = 50_000
"""Names that are looked at, of whatever kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file as it is now; equal states mean that nothing has changed."""

    real: Path
    """Where it really is, without links."""
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
    """What is at a path; None when it is no file of the folder."""
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
