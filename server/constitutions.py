"""Constitution files that a client may name: those in the server's own folder, by their name."""

from collections.abc import Callable
from pathlib import Path

from sifaka.critics.constitution import read_file
from sifaka.errors import ConfigurationError

FOLDER = "constitutions"
"""Inside the settings' home."""


def named_in(home: Path) -> Callable[[str], str]:
    """A reader of the files in `home/constitutions`; a path to anywhere else is refused.

    What a client names must not make the server read, and show to a model, any file it can open.
    """

    def read(name: str) -> str:
        folder = home / FOLDER
        if Path(name).name != name or name.startswith("."):
            raise ConfigurationError(
                f"{name!r} is not the name of a constitution",
                f"put the file into {FOLDER}/ in the server's home, and give its name alone",
            )
        path = folder / name
        if not path.is_file():
            known = sorted(p.name for p in folder.glob("*") if p.suffix in {".yaml", ".yml", ".md"})
            there = ", ".join(known) or "nothing"
            raise ConfigurationError(f"there is no constitution {name!r}", f"there is: {there}")
        return read_file(str(path))

    return read
