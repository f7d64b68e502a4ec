"""Constitution files that a client may name: those in the server's own folder, by their name."""

import errno
from pathlib import Path

from sifaka._internal.safe_open import read_beneath
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
_NONE = frozenset({errno.ENOENT, errno.EXDEV, errno.EINVAL, errno.EISDIR})
"""The errors of what is no file of the folder: where else it is, is not reported."""


def read_constitution(home: Path, name: str) -> str:
    """The file of this name in `home/constitutions`; a path to anywhere else is refused.

    What a client names must not make the server read, and show to a model, any file it can open. So
    a name is one of a regular file that lies in the folder itself, links followed; nothing in it is
    decoded or expanded.

    Raises:
        ConfigurationError: There is no such file, or it cannot be read.
    """
    is_name = name.isprintable() and Path(name).name == name and not set(name) & set("/\\:")
    is_hidden_or_device = name.startswith(".") or name.partition(".")[0].casefold() in _RESERVED
    if not is_name or is_hidden_or_device or len(name) > _LONGEST_NAME:
        raise ConfigurationError(
            f"{name[:60]!r} is not the name of a constitution",
            f"put the file into {FOLDER}/ in the server's home, and give its name alone, of "
            f"{_LONGEST_NAME} characters at most",
        )
    folder = home / FOLDER
    try:
        return read_beneath(folder / name, _MOST_BYTES, folder).decode("utf-8-sig")
    except OSError as error:
        if error.errno in _NONE:
            raise ConfigurationError(
                f"there is no constitution {name!r}", f"there is: {_list_names(folder)}"
            ) from None
        raise ConfigurationError(
            f"constitution {name!r} cannot be read: {error.strerror}",
            "give the name of a file that can be opened, of a megabyte at most",
        ) from error
    except UnicodeDecodeError:
        # Without its cause, which holds the content.
        raise ConfigurationError(
            f"constitution {name!r} is not UTF-8", "save it as UTF-8"
        ) from None


def _list_names(folder: Path) -> str:
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
