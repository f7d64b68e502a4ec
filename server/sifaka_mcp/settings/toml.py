"""Reads a TOML file that another person may have written."""

import tomllib
from pathlib import Path
from typing import Any

from sifaka.errors import ConfigurationError

_MOST_BYTES = 1_000_000


def read_content(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ConfigurationError: It cannot be read, or is too large for a configuration.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > _MOST_BYTES:
        raise ConfigurationError(f"{path} is larger than a megabyte", "keep to what it is for")
    return content


def parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    """What the content of a file says.

    Raises:
        ConfigurationError: It is not TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigurationError(
            f"{path} is not valid TOML: {reason}", "correct the file"
        ) from error
