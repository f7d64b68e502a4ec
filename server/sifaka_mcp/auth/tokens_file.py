"""The file of the tokens that are let in, read again when it changes.

A line is `TENANT SHA256 [expires=2027-01-31T00:00:00Z] [scopes=sifaka:read]`. The token itself is
not in the file. It has 256 random bits, so that its hash needs neither salt nor many rounds.
"""

import logging
import os
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError
from sifaka_mcp.tenancy import READ, TENANT, WRITE

SCOPES = (READ, WRITE)
_FORM = "TENANT SHA256 [expires=2027-01-31T00:00:00Z] [scopes=sifaka:read,sifaka:write]"
_HASH = re.compile(r"[0-9a-f]{64}")
logger = logging.getLogger(__name__)

_LARGEST = 10 * 1024 * 1024
"""Bytes; some 80,000 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The tenant and the scopes of one token."""

    tenant: str
    digest: bytes
    """The SHA-256 of the token."""
    expires: datetime | None = None
    scopes: tuple[str, ...] = ()
    """Of `SCOPES`; good for everything when there are none."""

    def is_over(self, now: datetime) -> bool:
        """True when it has expired."""
        return self.expires is not None and self.expires <= now

    def line(self) -> str:
        """Its line in a tokens file."""
        words = [self.tenant, self.digest.hex()]
        if self.expires is not None:
            words.append(f"expires={self.expires.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
        if self.scopes:
            words.append(f"scopes={','.join(self.scopes)}")
        return " ".join(words)


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
        version = _version_of(self.path)
        if version != self._version:
            self._version = version
            try:
                self._grants = read_grants(self.path)
            except ConfigurationError as error:
                report_failure(logger, "tokens file", error)
        # No guess can choose the beginning of its hash: how long it takes to look for it
        # tells nothing about those that are there.
        match = self._grants.get(digest_of(token))
        return None if match is None or match.is_over(datetime.now(UTC)) else match


def read_grants(path: Path) -> Mapping[bytes, Grant]:
    """The grants of a tokens file by the digests of their tokens.

    Raises:
        ConfigurationError: The file cannot be read, is wrong, or is writable by everyone.
    """
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & stat.S_IWOTH:
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
        ConfigurationError: The file is wrong already, or cannot be written.
    """
    try:
        if path.exists():
            read_grants(path)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            begins = b"" if file.read(1) in {b"", b"\n"} else b"\n"
            file.write(begins + grant.line().encode() + b"\n")  # at once, also beside other writers
    except OSError as error:
        raise ConfigurationError(
            f"the tokens file {path} cannot be written: {error.strerror}",
            "choose a file in a folder that exists and may be written to",
        ) from error


def new_token() -> str:
    """A token that cannot be guessed. Its prefix tells people and programs what it is."""
    return f"sfk_{secrets.token_urlsafe(32)}"


def digest_of(token: str) -> bytes:
    """The digest of a token in a tokens file."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def parse_grants(text: str, source: str) -> Mapping[bytes, Grant]:
    """The grants of a tokens file by their digests; empty lines and those that begin with # aside.

    Args:
        text: What is in the file.
        source: The file, for errors.

    Raises:
        ConfigurationError: A line is wrong. The message has its number alone, since a token may
            stand there instead of its hash.
    """
    grants: dict[bytes, Grant] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            grant = parse_grant(line)
        except ValueError as error:
            raise ConfigurationError(
                f"{source}, line {number}: {error}",
                f"a line is {_FORM}; `sifaka token TENANT` makes one",
            ) from None
        if grant.digest in grants:
            raise ConfigurationError(
                f"{source}, line {number}: the same token as in a line before", "remove one of them"
            )
        grants[grant.digest] = grant
    return MappingProxyType(grants)


def parse_grant(line: str) -> Grant:
    """The grant of one line.

    Raises:
        ValueError: The line is wrong; the message has nothing of its text.
    """
    tenant, *rest = line.split()
    if not rest or not _HASH.fullmatch(rest[0]):
        raise ValueError("the second word should be a SHA-256 in 64 hexadecimal digits")
    options: dict[str, str] = {}
    for option in rest[1:]:
        name, _, value = option.partition("=")
        if name not in {"expires", "scopes"} or name in options:
            raise ValueError("after the hash there may be expires= and scopes=, once each")
        options[name] = value
    return Grant(
        tenant=checked_tenant(tenant),
        digest=bytes.fromhex(rest[0]),
        expires=_parse_moment(options["expires"]) if "expires" in options else None,
        scopes=parse_scopes(options["scopes"]) if "scopes" in options else (),
    )


def checked_tenant(name: str) -> str:
    """The same name.

    Raises:
        ValueError: No tenant can have it.
    """
    if not re.fullmatch(TENANT, name):
        raise ValueError("the tenant should be 1 to 64 letters, digits or characters of _ . @ -")
    return name


def parse_scopes(text: str) -> tuple[str, ...]:
    """Scopes with commas between them.

    Raises:
        ValueError: There are none, or one of them is unknown.
    """
    scopes = tuple(part for part in text.split(",") if part)
    if not scopes or set(scopes) - set(SCOPES):
        raise ValueError(f"the scopes should be of {', '.join(SCOPES)}")
    return scopes


def _parse_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("expires should be a moment such as 2027-01-31T00:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("expires should have a time zone, such as Z")
    return moment


def _version_of(path: Path) -> tuple[int, int, int, int] | None:
    """The parts of a file's state that change with it, without reading it."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns
