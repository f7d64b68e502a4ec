"""Writing a text to the file that the user named."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from sifaka.errors import ConfigurationError


def check_target(name: str) -> None:
    """Refuse a target that cannot be written, before any work is done.

    Raises:
        ConfigurationError: It is a folder, is protected, or lies in a folder that is not there.
    """
    path = Path(name)
    try:
        target = path.resolve()
        if target.is_dir():
            raise _refused(name, "is a folder")
        if target.exists():
            if not os.access(target, os.W_OK):
                raise _refused(name, "is read-only")
        elif not target.parent.is_dir():
            raise _refused(name, "its folder does not exist")
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL in the name
        raise _refused(name, getattr(error, "strerror", None) or str(error)) from error


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
            replace_file(path, data)
    except OSError as error:
        raise _refused(name, error.strerror or str(error)) from error


def replace_file(path: Path, data: bytes) -> None:
    """Put bytes in the place of a file, all or nothing; it keeps its mode and its owner.

    A file that has more than one name, or another owner than can be given, is written where it is;
    until that is done its new content is in a hidden file beside it.

    Raises:
        OSError: It cannot be written; the old file is whole.
    """
    before = path.stat() if path.exists() else None
    mode = 0o666 & ~_umask() if before is None else before.st_mode & 0o7777
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name[:40]}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            moved = before is None or (before.st_nlink == 1 and _owned_like(temporary, before))
            # Before the text is in it, so that it is never readable for more users than before.
            temporary.chmod(mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if moved:
                temporary.replace(path)
            else:
                _overwrite(path, data)
                temporary.unlink()
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _owned_like(path: Path, other: os.stat_result) -> bool:
    """Give a file to an owner; False when that is not allowed."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(path, other.st_uid, other.st_gid)
    new = path.stat()
    return (new.st_uid, new.st_gid) == (other.st_uid, other.st_gid)


def _overwrite(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _refused(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{name}: {reason}", "choose another --out")
