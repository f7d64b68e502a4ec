"""The text of a file."""

import os
import stat
from pathlib import Path

from sifaka.evidence.sources.html import plain_text

LARGEST = 2_000_000
"""Bytes of a file that is read."""
_LOOKED_AT = 8_192
_HTML = frozenset({".html", ".htm"})


class NotText(ValueError):
    """What a file holds cannot be taken as text; the message says why in a few words."""


def file_text(path: Path, largest: int = LARGEST) -> str:
    """The text of a file; of HTML what a reader sees.

    Args:
        path: The file; a link is not followed.
        largest: Bytes.

    Raises:
        NotText: It is too large, binary, not UTF-8, or not a plain file.
        OSError: It cannot be read.
    """
    content = _content(path, largest)
    if b"\0" in content[:_LOOKED_AT]:
        raise NotText("binary")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotText("not UTF-8") from error
    if path.suffix.lower() in _HTML:
        text = plain_text(text, tables=True)
    if "\0" in text:
        raise NotText("binary")
    return text.strip()


def _content(path: Path, largest: int) -> bytes:
    # What was a file a moment ago may be a link or a pipe by now, which must not be followed or
    # waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - of a descriptor
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotText("not a file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise NotText(f"larger than {largest} bytes")
    return content
