"""Writing a text to the file that the user named."""

import os
import tempfile
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
            _replace(path, data)
    except OSError as error:
        raise _refused(name, error.strerror or str(error)) from error


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name[:40]}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            # Before the text is in it, so that it is never readable for more users than before.
            temporary.chmod(mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _refused(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{name}: {reason}", "choose another --out")
