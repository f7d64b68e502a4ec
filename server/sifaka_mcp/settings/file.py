"""Settings in a file of the current folder, which another person may have written."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sifaka.errors import ConfigurationError

_PROGRAM = re.compile(r"(?:^|,)\s*[^:,]*\+mcp:", re.IGNORECASE)
"""A tier of a store that is a program."""
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "plugins": "what is to be run",
        "store": "what is to be run",
        "adapters": "what is searched",
        "adapter_keys": "with which keys",
    }
)


def read_file(folder: Path | None) -> tuple[dict[str, Any], Path | None]:
    """The contents of `sifaka.toml` in a folder, and its path; nothing and None without one.

    Raises:
        ConfigurationError: It cannot be read, or says what such a file may not.
    """
    path = folder / "sifaka.toml" if folder else None
    if path is None or not path.is_file():
        return {}, None
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} is not valid TOML: {error}", "correct the file"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    # Hosts start servers in the folder that is being worked on, and who made that folder is not
    # known: opening it must not run anything, nor send texts or show files to whom it names.
    for name in sorted(told.keys() & _REFUSED.keys()):
        if name != "store" or _PROGRAM.search(str(told[name])):
            raise ConfigurationError(
                f"{path}: {name}: a file in the current folder may not say {_REFUSED[name]}",
                f"give it as SIFAKA_{name.upper()}",
            )
    told.pop("check", None)  # the rules of `sifaka check`, which reads them itself
    return told, path
