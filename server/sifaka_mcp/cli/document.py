"""Files of text: read whole or not at all, and written the same way."""

import codecs
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sifaka._internal.safe_open import Opened, opened
from sifaka.errors import ConfigurationError
from sifaka.text.input import MAX_TEXT, check_text

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def check_target(name: str) -> None:
    """Refuse a target that cannot be written, before any work is done.

    Raises:
        ConfigurationError: It is a folder, is protected, or lies in a folder that is not there.
    """
    try:
        target = Path(name).resolve()
        if target.is_dir():
            raise ValueError("is a folder")
        if target.exists() and not os.access(target, os.W_OK):
            raise ValueError("is read-only")
        if not target.parent.is_dir():
            raise ValueError("its folder does not exist")
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(f"{name}: {reason}", "choose another --out") from error


def write_text(name: str, text: str) -> None:
    """Write a text, all or nothing: a crash in between leaves the old file whole.

    A link stays a link and its target is written; a pipe or a device is written to as it is.

    Raises:
        ConfigurationError: It cannot be written.
    """
    check_target(name)
    path = Path(name).resolve()
    data = text.encode("utf-8")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            replace_file(str(path), data)
    except OSError as error:
        raise ConfigurationError(
            f"{name}: {error.strerror or error}", "choose another --out"
        ) from error


def replace_file(name: str, data: bytes, folder: int | None = None) -> None:
    """Put bytes in the place of a file, all or nothing; it keeps its mode and its owner.

    Another name of the same file keeps the old content.

    Args:
        name: Its path; its name alone where there is a folder.
        data: Its new content.
        folder: The descriptor of the folder that it lies in.

    Raises:
        OSError: It cannot be written, or not with its owner; the old file is whole.
    """
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        before = None
    # Of an old file, before the text is in it: it is never readable for more users than before.
    mode = 0o666 if before is None else 0o600
    parent, base = os.path.split(name)
    temporary = os.path.join(parent, f".{base[:40]}.{secrets.token_hex(8)}")  # noqa: PTH118 - a name alone stays one
    try:
        with os.fdopen(os.open(temporary, _NEW, mode, dir_fd=folder), "wb") as file:
            if before is not None and hasattr(os, "fchmod"):
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), before.st_mode & 0o7777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


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
    root: Path | None
    """The folder that it has to lie in; None allows every place."""
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


def read_text_file(path: Path, root: Path | None = None) -> TextFile:
    """Read a file; its encoding is UTF-8, or what its byte order mark says.

    Args:
        path: The file.
        root: The folder that it has to lie in, links followed; None allows every place.

    Raises:
        ConfigurationError: It is no file, lies elsewhere, cannot be read, is too long, is no text,
            or was changed while it was read.
    """
    try:
        with opened(path, root) as file:
            data = _read_content(file)
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        raise ConfigurationError(str(getattr(error, "strerror", error))) from error
    return replace(decode(path, data), root=root, target=file.real)


def decode(path: Path, data: bytes) -> TextFile:
    """The text that bytes stand for.

    Raises:
        ConfigurationError: They are no text, or a text that cannot be checked.
    """
    marks = ((mark, name) for mark, name in _MARKS.items() if data.startswith(mark))
    mark, encoding = next(marks, (b"", "utf-8"))
    if not mark and b"\0" in data:
        raise ConfigurationError("is binary")
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"is not {encoding.upper()} at byte {error.start + len(mark)}", "convert it to UTF-8"
        ) from error
    check_text(text, "the text")
    return TextFile(
        path=path, root=None, target=path, data=data, mark=mark, encoding=encoding, text=text
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
        with opened(file.path, file.root) as now:
            if now.real != file.target:
                raise ConfigurationError("leads to another file now; not written")
            if _read_content(now) != file.data:
                raise ConfigurationError("was changed meanwhile; not written")
            if not os.access(now.name, os.W_OK, dir_fd=now.folder):
                raise ConfigurationError("is read-only; not written")
            replace_file(now.name, data, now.folder)
    except OSError as error:
        raise ConfigurationError(f"{error.strerror or error}; not written") from error


def _read_content(file: Opened) -> bytes:
    before = os.fstat(file.stream.fileno())
    if before.st_size > _LARGEST:
        raise ConfigurationError(f"has {before.st_size:,} bytes, too many for one text", "split it")
    data = file.stream.read(_LARGEST + 1)
    after = os.fstat(file.stream.fileno())
    if len(data) != after.st_size or before.st_mtime_ns != after.st_mtime_ns:
        raise ConfigurationError("was changed while it was read")
    return data
