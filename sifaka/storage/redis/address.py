"""The URL of a Redis server: checked, and never shown with its password."""

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.storage.cursor import parse_ttl

FORMS = (
    "redis://[user:password@]host[:port][/db] | rediss://... (TLS) | "
    "unix:///path/to/redis.sock[?db=0&password=...], with ?ttl=7d and &prefix=sifaka if wanted"
)
"""Every form that is understood."""
DEFAULT_PREFIX = "sifaka"
_PASSED_ON = frozenset(
    {"db", "username", "password"}
    | {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname"}
)
_OURS = frozenset({"ttl", "prefix"})


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """The address of a server."""

    url: str = field(repr=False)
    """The URL for redis-py; it may hold a password."""
    shown: str
    """The same for people to read, without user, password and options."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """The options of a URL for the runs on a server."""

    ttl: float | None
    """Seconds after its last entry that a run is forgotten; None keeps it."""
    prefix: str
    """The prefix of all keys."""


def take_options(url: str) -> tuple[str, Keeping]:
    """A URL without our own options, `ttl` and `prefix`, and what they say.

    Raises:
        ConfigurationError: An option cannot be understood. The message holds no password.
    """
    parts, options = _split(url)
    ours = {name: options.pop(name) for name in _OURS & options.keys()}
    keeping = Keeping(
        ttl=parse_ttl(ours["ttl"]) if "ttl" in ours else None,
        prefix=checked_prefix(ours.get("prefix", DEFAULT_PREFIX)),
    )
    return parts._replace(query=urlencode(options)).geturl(), keeping


def parse_address(url: str) -> RedisAddress:
    """The server that a URL names.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no password.
    """
    parts, options = _split(url)
    shown = _shown(parts)
    if not options.get("db", "0").isdecimal():
        raise _wrong(url)
    for option in sorted(options.keys() - _PASSED_ON):
        raise ConfigurationError(
            f"the URL of the store {shown!r} has the unknown option {option!r}",
            f"allowed: {', '.join(sorted(_OURS | _PASSED_ON))}",
        )
    return RedisAddress(url=url, shown=shown)


def checked_prefix(prefix: str) -> str:
    """The same prefix.

    Raises:
        ConfigurationError: It could not begin a key, or an ACL pattern, as it stands.
    """
    if not re.fullmatch(r"[\w.:-]{1,64}", prefix, re.ASCII):
        raise ConfigurationError(
            f"{prefix!r} is not a prefix for keys",
            "allowed: 1 to 64 letters, digits or characters of _ . : -",
        )
    return prefix


def _split(url: str) -> tuple[SplitResult, dict[str, str]]:
    try:
        parts = urlsplit(url)
        if parts.fragment or not _shown(parts):
            raise ValueError
        if not parts.query:
            return parts, {}
        return parts, dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        raise _wrong(url) from None


def _shown(parts: SplitResult) -> str:
    """The URL without its secrets; empty for one that is wrong."""
    if parts.scheme == "unix":
        return f"unix://{unquote(parts.path)}" if parts.path and not parts.hostname else ""
    database = re.fullmatch(r"/?|/\d{1,5}", parts.path, re.ASCII)
    if parts.scheme not in {"redis", "rediss"} or not parts.hostname or database is None:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def _wrong(url: str) -> ConfigurationError:
    # Whatever stands before the last @, or after a question mark, may be a password.
    shown = re.sub(r"//.*@", "//***@", url, flags=re.DOTALL).partition("?")[0]
    return ConfigurationError(
        f"{shown[:200]!r} is not the URL of a Redis server", f"allowed: {FORMS}"
    )
