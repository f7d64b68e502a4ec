"""The file of the tokens that are let in, read again when it changes."""

import hmac
import logging
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError
from sifaka_mcp.auth.grants import Grant, digest_of, parse_grants

logger = logging.getLogger(__name__)

_LARGEST = 10 * 1024 * 1024
"""Bytes; some 80,000 tokens."""
_Version = tuple[int, int, int, int] | None
"""The parts of a file's state that change with it, without reading it."""


class TokensFile:
    """The grants of a file. A change counts from the next request on, without a restart.

    A file that is broken, or gone, changes nothing but for a line in the log: the
    tokens known before stay valid, and no others.

    Raises:
        ConfigurationError: It cannot be read now, or is wrong.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version = _version_of(path)
        self._grants = read_grants(path)

    def grant(self, token: str) -> Grant | None:
        """The grant of a token; None when it is unknown or has expired."""
        self._keep_up()
        digest = digest_of(token)
        # No guess can choose the beginning of its hash: how long it takes to look for it
        # tells nothing about those that are there.
        found = self._grants.get(digest)
        if found is None or not hmac.compare_digest(found.digest, digest):
            return None
        return None if found.is_over(datetime.now(UTC)) else found

    def _keep_up(self) -> None:
        version = _version_of(self.path)
        if version == self._version:
            return
        self._version = version
        try:
            self._grants = read_grants(self.path)
        except ConfigurationError as error:
            report_failure(logger, "tokens file", error)


def read_grants(path: Path) -> Mapping[bytes, Grant]:
    """The grants of a tokens file by the digests of their tokens.

    Raises:
        ConfigurationError: The file cannot be read, is wrong, or is writable by everyone.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & stat.S_IWOTH:
                raise ConfigurationError(
                    f"{path} can be written by every user of this machine", f"chmod 600 {path}"
                )
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise ConfigurationError(f"{path} is too large for a tokens file: {_LARGEST:,} bytes")
        return parse_grants(content.decode("utf-8"), str(path))
    except OSError as error:
        raise ConfigurationError(
            f"the tokens file {path} cannot be read: {error.strerror}",
            "`sifaka token TENANT --auth-tokens-file FILE` makes one",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8", "write it anew") from error


def add_grant(path: Path, grant: Grant) -> None:
    """Put a grant at the end of a tokens file, which only its owner may read if it is a new one.

    Raises:
        ConfigurationError: The file is wrong as it stands, or cannot be written.
    """
    try:
        if path.exists():
            read_grants(path)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            begins = b"" if file.read(1) in {b"", b"\n"} else b"\n"
            file.write(begins + grant.line().encode() + b"\n")  # at once, also beside other writers
    except OSError as error:
        raise ConfigurationError(
            f"the tokens file {path} cannot be written: {error.strerror}",
            "choose a file in a folder that exists and may be written to",
        ) from error


def _version_of(path: Path) -> _Version:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
