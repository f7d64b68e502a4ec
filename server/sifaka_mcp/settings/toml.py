"""Reads a TOML file that another person may have written."""

import errno
import re
import tomllib
from pathlib import Path
from typing import Any

from sifaka._internal.safe_open import read_beneath
from sifaka.errors import ConfigurationError

_MOST = 1_000_000
"""Bytes of a file."""
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
"""A key of more than 32 parts: the parser's time grows with the square of their number."""


def read_content(path: Path) -> bytes:
    """The bytes of a file of at most a megabyte.

    Raises:
        ConfigurationError: It cannot be read, is no regular file, or is too large for a
            configuration.
    """
    try:
        return read_beneath(path, _MOST)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigurationError(f"{path} is larger than a megabyte") from error
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error


def parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    """What the content of a file says.

    Raises:
        ConfigurationError: It is not TOML.
    """
    try:
        text = content.decode("utf-8")
        if _LONG_KEY.search(text):
            raise ValueError("a key has more than 32 parts")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigurationError(
            f"{path} is not valid TOML: {reason}", "correct the file"
        ) from error
