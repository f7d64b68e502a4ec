"""The files that are edited: read whole or not at all, and written the same way."""

import codecs
import itertools
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sifaka.errors import ConfigurationError
from sifaka.text.input import MAX_TEXT, check_text
from sifaka_mcp.cli.target import replace_file

_MARKS: Mapping[bytes, str] = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is its beginning
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LARGEST = 4 * MAX_TEXT + 4
"""Bytes that a text of the greatest length can take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file as it was read."""

    path: Path
    target: Path
    """The file behind the path, which may be a link."""
    data: bytes
    """Its bytes, as they were on the disk."""
    mark: bytes
    """The byte order mark at its beginning; empty without one."""
    encoding: str
    text: str
    """Without the mark, and with the line ends as they are."""

    def encode(self, text: str) -> bytes:
        """Another text as the bytes of this file."""
        return self.mark + text.encode(self.encoding)


def read_text_file(path: Path) -> TextFile:
    """Read a file; its encoding is UTF-8, or what its byte order mark says.

    Raises:
        ConfigurationError: It is none, cannot be read, is too long or no text, or was changed while
            it was read.
    """
    return decode(path, _read(path))


def decode(path: Path, data: bytes) -> TextFile:
    """The text that bytes stand for.

    Raises:
        ConfigurationError: They are no text, or a text that cannot be checked.
    """
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    encoding = _MARKS.get(mark, "utf-8")
    if not mark and b"\0" in data:
        raise ConfigurationError("is binary")
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        place = error.start + len(mark)
        raise ConfigurationError(
            f"is not {encoding.upper()} at byte {place}", "convert it to UTF-8"
        ) from error
    check_text(text, "the text")
    return TextFile(
        path=path, target=path.resolve(), data=data, mark=mark, encoding=encoding, text=text
    )


def write_text_file(file: TextFile, text: str) -> None:
    """Put another text into a file, all or nothing, unless the file has been changed meanwhile.

    Its encoding, byte order mark, mode, owner and links stay; a link stays a link.

    Raises:
        ConfigurationError: It has been changed, has vanished, has become a link, or cannot be
            written.
    """
    data = file.encode(text)
    try:
        if file.path.resolve() != file.target:
            raise ConfigurationError("leads to another file now; not written")
        if _read(file.path) != file.data:
            raise ConfigurationError("was changed meanwhile; not written")
        if not os.access(file.target, os.W_OK):
            raise ConfigurationError("is read-only; not written")
        replace_file(file.target, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"{reason}; not written") from error


def write_beside(file: TextFile, text: str) -> Path:
    """Put a text into a new file beside one that must not be written, and return its path.

    Raises:
        ConfigurationError: It cannot be written.
    """
    for number in itertools.count(1):
        name = f"{file.path.stem}.improved{'' if number == 1 else f'-{number}'}{file.path.suffix}"
        path = file.path.with_name(name)
        try:
            with path.open("xb") as stream:
                stream.write(file.encode(text))
        except FileExistsError:
            continue
        except OSError as error:
            raise ConfigurationError(f"{path}: {error.strerror}", "choose another --out") from error
        return path
    raise AssertionError("the numbers have no end")


def _read(path: Path) -> bytes:
    # A pipe that has taken the file's place meanwhile would make the opening wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigurationError("is no regular file")
        with os.fdopen(os.open(path, flags), "rb") as stream:
            before = os.fstat(stream.fileno())
            if before.st_size > _LARGEST:
                raise ConfigurationError(
                    f"has {before.st_size:,} bytes, too many for one text",
                    "split it",
                )
            data = stream.read(_LARGEST + 1)
            after = os.fstat(stream.fileno())
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        raise ConfigurationError(str(getattr(error, "strerror", error))) from error
    if len(data) != after.st_size or before.st_mtime_ns != after.st_mtime_ns:
        raise ConfigurationError("was changed while it was read")
    return data
