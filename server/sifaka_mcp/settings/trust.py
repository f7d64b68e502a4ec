"""The folders that the user trusts, and with which files. This is kept outside of them."""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from sifaka.errors import ConfigurationError

Trusted = Mapping[str, Mapping[str, str]]
"""By folder: the files, by what they are called there, and the SHA-256 of each."""
_RECORD = "trusted.json"
_BETWEEN = re.compile(r"[\s,=:'\"]+")
"""Between the parts of a value, any of which may be a file: `redis+mcp:sh ./start.sh -c x.ini`."""


def trusted_folders(config: Path) -> Trusted:
    """The folders by their canonical paths; none when the record cannot be read."""
    try:
        found: object = json.loads((config / _RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("Trusted", found) if isinstance(found, dict) else {}


def keep_trusted(config: Path, trusted: Trusted) -> None:
    """Replace the record, which only the user may read and write.

    Raises:
        ConfigurationError: It cannot be written.
    """
    try:
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=config, delete=False) as file:  # of mode 600
            json.dump(trusted, file, indent=1)
        os.replace(file.name, config / _RECORD)  # noqa: PTH105 - as short as can be
    except OSError as error:
        raise ConfigurationError(
            f"{config / _RECORD} cannot be written: {error.strerror}", "check the rights on it"
        ) from error


def digests(path: Path, content: bytes, told: object) -> Mapping[str, str]:
    """The SHA-256 of a file with settings, and of each file that a value in it names.

    What lies in a folder that it names is not looked at, nor is the file of a store.
    """
    named = {word for value in _strings(told) for word in (value, *_BETWEEN.split(value))}
    # `//` begins the part of a URL, such as the path of a database, which always changes.
    files = {word: path.parent / word for word in named if not word.startswith("//")}
    return {path.name: hashlib.sha256(content).hexdigest()} | {
        word: _digest(file)
        for word, file in sorted(files.items())
        if os.path.isfile(file)  # noqa: PTH113 - a Path raises for a name that is too long
    }


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return str(error.strerror)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _strings(each)
