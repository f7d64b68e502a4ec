"""Constitution files that a client may name: those in the server's own folder, by their name."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from sifaka.errors import ConfigurationError

FOLDER = "constitutions"
"""Inside the settings' home."""
_SUFFIXES = frozenset({".yaml", ".yml", ".md"})
_LONGEST_NAME = 200
"""Characters; no file system holds much more."""
_MOST_BYTES = 1_000_000
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
)
"""Names that Windows takes for a device, with any suffix."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""A pipe in the folder must not be waited for."""


def named_in(home: Path) -> Callable[[str], str]:
    """A reader of the files in `home/constitutions`; a path to anywhere else is refused.

    What a client names must not make the server read, and show to a model, any file it can open. So
    a name is one of a regular file that lies in the folder itself, links followed; nothing in it is
    decoded or expanded.
    """

    def read(name: str) -> str:
        folder = home / FOLDER
        _check(name)
        try:
            path = (folder / name).resolve(strict=True)
            inside = path.is_relative_to(folder.resolve(strict=True))
            content = _content(path) if inside else None
        except FileNotFoundError:
            content = None
        except (OSError, RuntimeError) as error:  # a loop of links among them
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ConfigurationError(
                f"constitution {name!r} cannot be read: {reason}",
                "give the name of a file that can be opened",
            ) from error
        if content is None:  # what lies elsewhere is not told from what does not exist
            raise ConfigurationError(
                f"there is no constitution {name!r}", f"there is: {_known(folder)}"
            )
        if len(content) > _MOST_BYTES:
            raise ConfigurationError(
                f"constitution {name!r} is larger than a megabyte", "keep to the principles"
            )
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            # Without its cause, which holds the content.
            raise ConfigurationError(
                f"constitution {name!r} is not UTF-8", "save it as UTF-8"
            ) from None

    return read


def _check(name: str) -> None:
    is_name = name.isprintable() and Path(name).name == name and not set(name) & set("/\\:")
    if not is_name or name.startswith(".") or name.partition(".")[0].casefold() in _RESERVED:
        raise ConfigurationError(
            f"{name[:60]!r} is not the name of a constitution",
            f"put the file into {FOLDER}/ in the server's home, and give its name alone",
        )
    if len(name) > _LONGEST_NAME:
        raise ConfigurationError(
            f"the name of a constitution has {len(name)} characters",
            f"give the name of a file, {_LONGEST_NAME} characters at most",
        )


def _content(path: Path) -> bytes | None:
    """The content of a regular file, up to just beyond the limit; None for anything else."""
    # What was opened is looked at, not what the name stood for a moment ago.
    descriptor = os.open(path, _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES + 1)
    finally:
        os.close(descriptor)


def _known(folder: Path) -> str:
    try:
        there = folder.resolve(strict=True)
        names = sorted(
            path.name
            for path in there.iterdir()
            if path.suffix in _SUFFIXES and path.is_file() and path.resolve().is_relative_to(there)
        )
    except (OSError, RuntimeError):
        names = []
    return ", ".join(names[:20]) or "nothing"
