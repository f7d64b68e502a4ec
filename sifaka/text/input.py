"""Checks on incoming texts."""

import re

from sifaka.errors import ConfigurationError

MAX_TEXT = 1_000_000
"""Characters. A book; what is longer has to be worked on in parts."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def is_unicode(text: str) -> bool:
    """True when a text can be encoded: it has no half of a surrogate pair."""
    return _SURROGATE.search(text) is None


def check_text(text: str, name: str = "text") -> str:
    """The text, when it can be stored and sent as it is.

    Raises:
        ConfigurationError: It is too long, or contains NUL or half of a surrogate pair.
    """
    if len(text) > MAX_TEXT:
        raise ConfigurationError(
            f"{name} has {len(text):,} characters, at most {MAX_TEXT:,} are allowed",
            "split it and work on the parts",
        )
    if "\0" in text:
        raise ConfigurationError(
            f"{name} contains a NUL character at offset {text.index(chr(0))}", "remove it"
        )
    if match := _SURROGATE.search(text):
        raise ConfigurationError(
            f"{name} contains a lone surrogate at offset {match.start()}",
            "send valid Unicode: replace the broken character",
        )
    return text
