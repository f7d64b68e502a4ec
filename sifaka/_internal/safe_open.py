"""Opens a file that lies below a folder, whatever links the folder's author has put into it.

Each step of a path is taken from the descriptor of the folder before it and follows no link; a link
is read and its target walked the same way, never to above the folder. So it does not matter what
becomes of a name while the others are walked. `openat2` would give no more, refuses absolute links
that stay inside, and is there on Linux alone.

Where no descriptor of a folder can be opened, as on Windows, paths are resolved before and after
the opening and have to be the same: what is changed in between and changed back is not noticed.
"""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

_LINKS = 40
"""Links on the way to a file; Linux follows as many."""
_DEEPEST = 200
"""Folders on the way to a file, each of which is open for a moment."""
_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # what has become a pipe is not waited for
    | getattr(os, "O_BINARY", 0)
)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_BY_DESCRIPTORS = os.open in os.supports_dir_fd


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A regular file that is open for reading, and where it was found."""

    stream: BinaryIO
    real: Path
    """Its path without links."""
    name: str
    """Its name in `folder`; all of its path where that is None."""
    folder: int | None
    """The descriptor of the folder that it lies in, as `dir_fd` of functions of `os`."""


@contextmanager
def opened(path: Path, root: Path | None = None, *, hidden: bool = True) -> Generator[Opened]:
    """Open a regular file below a folder; anything else is not even opened.

    Args:
        path: The file.
        root: The folder, which is trusted itself; None follows the links of the path anywhere.
        hidden: False refuses what is hidden below the folder, and links to it.

    Raises:
        OSError: There is no such file, it is none, is hidden or cannot be read, or lies elsewhere.
        ValueError: There is a NUL in the path.
    """
    if root is None:
        path = Path(os.path.realpath(path))
        root = path.parent
    roots = (Path(os.path.abspath(root)), Path(os.path.realpath(root)))  # noqa: PTH100 - links stay
    inside = _get_steps(Path(os.path.abspath(path)), roots)  # noqa: PTH100 - links stay
    by = opened_by_descriptors if _BY_DESCRIPTORS else opened_by_names
    with by(inside, roots) as file:
        if not hidden and any(name.startswith(".") for name in _get_steps(file.real, roots)):
            raise PermissionError(errno.EPERM, "is hidden")
        if not stat.S_ISREG(os.fstat(file.stream.fileno()).st_mode):
            raise _irregular()
        yield file


def read_beneath(path: Path, most: int, root: Path | None = None, *, hidden: bool = True) -> bytes:
    """The content of a regular file of at most `most` bytes; see `opened`.

    Raises:
        OSError: It is larger, or cannot be opened.
        ValueError: There is a NUL in the path.
    """
    with opened(path, root, hidden=hidden) as file:
        content = file.stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes")
    return content


@contextmanager
def opened_by_descriptors(inside: Sequence[str], roots: Sequence[Path]) -> Generator[Opened]:
    """Open what a path below the last of the roots leads to, step by step; see `opened`."""
    stack = [("", os.open(roots[-1], _FOLDER))]
    try:
        _walk(stack, inside, roots)
        with open(stack[-1][1], "rb", closefd=False) as stream:
            real = Path(roots[-1], *(name for name, _ in stack[1:]))
            yield Opened(stream=stream, real=real, name=real.name, folder=stack[-2][1])
    finally:
        for _, descriptor in stack:
            os.close(descriptor)


def _walk(stack: list[tuple[str, int]], inside: Sequence[str], roots: Sequence[Path]) -> None:
    """Put the folders on the way, and the file, behind the root in `stack`."""
    waiting, links = [*reversed(inside)], 0
    while waiting:
        name, (_, here) = waiting.pop(), stack[-1]
        if name == "..":
            if len(stack) == 1:
                raise _outside()
            os.close(stack.pop()[1])
            continue
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            links += 1
            target = Path(os.readlink(name, dir_fd=here))
            if links > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            waiting += reversed(_get_steps(target, roots) if target.is_absolute() else target.parts)
            while target.is_absolute() and len(stack) > 1:
                os.close(stack.pop()[1])
        elif len(stack) > _DEEPEST:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        elif stat.S_ISDIR(mode):
            stack.append((name, os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)))
        elif stat.S_ISREG(mode):
            stack.append((name, os.open(name, _FILE, dir_fd=here)))
        else:
            raise _irregular()


@contextmanager
def opened_by_names(inside: Sequence[str], roots: Sequence[Path]) -> Generator[Opened]:
    """Open what a path below the last of the roots leads to, where no descriptors can be walked."""
    path = Path(roots[-1], *inside)
    real = Path(os.path.realpath(path, strict=True))
    _get_steps(real, roots)
    if not real.is_file():
        raise _irregular()
    with os.fdopen(os.open(real, _FILE), "rb") as stream:
        if os.path.realpath(path) != str(real):
            raise _outside()
        yield Opened(stream=stream, real=real, name=str(real), folder=None)


def _get_steps(path: PurePath, roots: Sequence[Path]) -> Sequence[str]:
    """The steps from a root to a path."""
    for root in roots:
        if path.is_relative_to(root):
            return path.relative_to(root).parts
    raise _outside()


def _outside() -> OSError:
    # Where the folder is, is not for everyone who may search it.
    return OSError(errno.EXDEV, "is a link that leads outside")


def _irregular() -> OSError:
    return OSError(errno.EINVAL, "is no regular file")
