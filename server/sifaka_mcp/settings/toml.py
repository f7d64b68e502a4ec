"""Reads TOML that somebody else may have written."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sifaka._internal.beneath import read_beneath
from sifaka.errors import ConfigurationError

_MOST = 1_000_000
"""Bytes of a file."""
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
"""A key of more than 32 parts: the parser's time grows with the square of their number."""


def read_toml(path: Path) -> Mapping[str, Any]:
    """What a file of at most a megabyte says.

    Raises:
        ConfigurationError: It cannot be read, is no regular file, or is not valid TOML.
    """
    try:
        text = read_beneath(path, _MOST).decode("utf-8")
        if _LONG_KEY.search(text):
            raise ValueError("a key has more than 32 parts")
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise ConfigurationError(
            f"{path} is not valid TOML: {reason}", "correct the file"
        ) from error
