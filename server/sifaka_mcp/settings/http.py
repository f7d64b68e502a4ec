"""The settings that only the HTTP server reads."""

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from sifaka._internal.immutable import Frozen

MAX_PORT = 65_535
_HOST = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?:\*|(?P<port>[0-9]{1,5})))?"
)


def split_list(value: object) -> object:
    """A list in the environment has commas between its items."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def is_loopback(host: str) -> bool:
    """True when the name or address is certainly this machine's own."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _is_host(value: str) -> bool:
    match = _HOST.fullmatch(value)
    return match is not None and int(match["port"] or 0) <= MAX_PORT


def _is_origin(value: str) -> bool:
    parts = _split_url(value)
    return parts is not None and f"{parts.scheme}://{parts.netloc}".lower() == value


def _is_safe_url(value: str) -> bool:
    parts = _split_url(value)
    # RFC 8414 and RFC 9728 want TLS; what stays on this machine needs none.
    return parts is not None and (parts.scheme == "https" or is_loopback(parts.hostname or ""))


def _split_url(url: str) -> SplitResult | None:
    """The parts of a URL that names a place on the web, and nothing else."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for one that is none
    except ValueError:
        return None
    is_plain = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    is_http = parts.scheme in {"http", "https"} and parts.hostname
    return parts if is_plain and is_http and not parts.query and not parts.fragment else None


def _is_network(value: str) -> bool:
    try:
        ipaddress.ip_network(value)
    except ValueError:
        return False
    return True


def matching(pattern: str, reason: str) -> Callable[[str], str]:
    """A check that all of a value matches a pattern; `{!r}` in the reason stands for the value."""
    return _check(lambda value: re.fullmatch(pattern, value) is not None, reason)


def _check(is_right: Callable[[str], bool], reason: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if not is_right(value):
            raise ValueError(reason.format(value))
        return value

    return check


def _each(check: Callable[[str], str]) -> AfterValidator:
    # Of the list as a whole, so that an error names the setting, and not a place in it.
    return AfterValidator(lambda values: tuple(check(value) for value in values))


Url = Annotated[
    str,
    AfterValidator(
        _check(
            _is_safe_url,
            "should be an https URL without user, query and fragment (http for loopback only)",
        )
    ),
]
Rate = Annotated[
    str,
    AfterValidator(
        matching(
            r"[1-9][0-9]{0,8}/(?:second|minute|hour|day)",
            "should be a number and a unit: 100/second, 1000/minute, hour or day",
        )
    ),
]
Names = Annotated[tuple[str, ...], BeforeValidator(split_list)]
Hosts = Annotated[Names, _each(_check(_is_host, "{!r} should be host, host:port or host:*"))]
Origins = Annotated[
    Names,
    _each(_check(_is_origin, "{!r} should be an origin such as https://app.example, no more")),
]
Proxies = Annotated[Names, _each(_check(_is_network, "{!r} should be an address or a network"))]
Scopes = Annotated[Names, _each(matching(r"[\x21\x23-\x5B\x5D-\x7E]{1,100}", "{!r} is no scope"))]
"""RFC 6749, section 3.3."""


class HttpSettings(Frozen):
    """The settings of the HTTP server; `Settings` has these too."""

    public_url: Url | None = None
    """The URL of `/mcp` for clients, such as https://sifaka.example/mcp; its host is allowed."""
    allowed_hosts: Hosts = ()
    """Host headers the HTTP server answers to besides the loopback ones; `*` for any port."""
    cors_origins: Origins = ()
    """Web pages that may call the server from a browser."""
    trusted_proxies: Proxies = ()
    """Addresses and networks of trusted proxies: X-Forwarded-For and -Proto are taken from them."""
    allow_anonymous: bool = False
    """True to listen beyond loopback without asking for tokens."""
    auth_tokens_file: Path | None = None
    """The tokens that are let in, each a line with the name of its tenant."""
    oauth_issuer: Url | None = None
    """The authorization server that issues further valid tokens."""
    oauth_audience: str | None = Field(default=None, min_length=1)
    """The audience of its tokens for this server; the public URL when None."""
    oauth_jwks_url: Url | None = None
    """The URL of its keys; the one in its metadata when None."""
    oauth_scopes: Scopes = ()
    """Scopes that each of its tokens must have."""
    rate_limit: Rate | None = None
    """Requests of a tenant, or of an address without one; shared by replicas on one Redis."""
    max_requests: int = Field(default=256, ge=1, le=100_000)
    """Requests of a tenant, or of an address without one, that are answered at the same time."""
    access_log: bool = False
    """True to log each request: method, path, status, time and address of the caller."""
    max_body_bytes: int = Field(default=16 * 1024 * 1024, ge=1024, le=1024**3)
    """The default is larger than any text we take: one that is too long is told so by the tool."""
    sessions: bool = False
    """True to keep sessions for the protocol versions up to 2025-11-25; then every request of a
    session has to reach the same process."""
    max_sessions: int = Field(default=100, ge=1, le=10_000)
    """Open sessions of a tenant, or of an address without one."""
    session_seconds: float = Field(default=1800.0, ge=1, le=86_400)
    """After which a session without a request or an open stream ends."""

    @field_validator("oauth_audience", "oauth_jwks_url", "oauth_scopes")
    @classmethod
    def _have_an_issuer(cls, value: object, info: ValidationInfo) -> object:
        if value and info.data.get("oauth_issuer", "wrong") is None:
            raise ValueError("means nothing without an issuer: set SIFAKA_OAUTH_ISSUER too")
        return value
