"""Constitution files that a client may name: those in the server's own folder, by their name."""

from collections.abc import Callable
from pathlib import Path

from sifaka.critics.constitution import read_file
from sifaka.errors import ConfigurationError

FOLDER = "constitutions"
"""Inside the settings' home."""
_LONGEST_NAME = 200
"""Characters; no file system holds much more."""


def named_in(home: Path) -> Callable[[str], str]:
    """A reader of the files in `home/constitutions`; a path to anywhere else is refused.

    What a client names must not make the server read, and show to a model, any file it can open.
    """

    def read(name: str) -> str:
        folder = home / FOLDER
        if not name.isprintable() or Path(name).name != name or name.startswith("."):
            raise ConfigurationError(
                f"{name[:60]!r} is not the name of a constitution",
                f"put the file into {FOLDER}/ in the server's home, and give its name alone",
            )
        if len(name) > _LONGEST_NAME:
            raise ConfigurationError(
                f"the name of a constitution has {len(name)} characters",
                f"give the name of a file, {_LONGEST_NAME} characters at most",
            )
        path = folder / name
        try:
            there = path.is_file()
            known = [] if there else sorted(_constitutions(folder))
        except OSError as error:
            raise ConfigurationError(
                f"constitution {name!r} cannot be read: {error.strerror or type(error).__name__}",
                "give the name of a file that can be opened",
            ) from error
        if not there:
            raise ConfigurationError(
                f"there is no constitution {name!r}",
                f"there is: {', '.join(known) or 'nothing'}",
            )
        return read_file(str(path))

    return read


def _constitutions(folder: Path) -> list[str]:
    suffixes = {".yaml", ".yml", ".md"}
    return [path.name for path in folder.glob("*") if path.suffix in suffixes and path.is_file()]
