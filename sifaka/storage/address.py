"""The URLs of Redis, Milvus and Elasticsearch stores: checked, and never shown with a secret."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from sifaka._internal.durations import parse_duration
from sifaka.errors import ConfigurationError

DEFAULT_PREFIX = "sifaka"
ANYTHING = r"(?s).*"
_KEEPING = MappingProxyType({"ttl": ANYTHING, "prefix": ANYTHING})
"""The options that say how runs are kept: every kind has them, and no server."""
_OF_THIS_MACHINE = frozenset({"milvus", "unix"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlKind:
    """The URLs that one kind of store understands."""

    forms: str
    """Every form, for people."""
    paths: Mapping[str, str]
    """The pattern of the path, by scheme."""
    prefix: str
    """The pattern of the names' beginning."""
    prefixes: str
    """What matches it, for people."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """The patterns of the options that are sent to the server."""
    port: int | None = None
    """The port where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreUrl:
    """The parts of a URL."""

    url: str = field(repr=False)
    """The URL without `ttl` and `prefix`; it may hold secrets."""
    scheme: str
    server: str
    """The host, with its port; empty for a path on this machine."""
    path: str
    user: str = field(repr=False)
    password: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)
    prefix: str
    """The beginning of the names of what is kept there."""
    ttl: float | None
    """Seconds after its last entry that a run is forgotten; None keeps it."""

    @property
    def shown(self) -> str:
        """The URL for people to read, without user, password and options."""
        return f"{self.scheme}://{self.server}{unquote(self.path.rstrip('/'))}"

    @property
    def place(self) -> str:
        """The same, with the prefix unless it is the usual one."""
        return self.shown if self.prefix == DEFAULT_PREFIX else f"{self.shown}?prefix={self.prefix}"

    @property
    def base(self) -> str:
        """The server's own URL, such as `http://host:19530` of `milvus+http://host:19530`."""
        return f"{self.scheme.rpartition('+')[2]}://{self.server}"

    @property
    def folder(self) -> Path | None:
        """The path on this machine, as written; None for a server."""
        return None if self.server else Path(self.path[1:]).absolute()


def parse_store_url(
    url: str, kind: UrlKind, *, prefix: str | None = None, ttl: float | None = None
) -> StoreUrl:
    """The parts of a URL.

    Args:
        url: The URL.
        kind: What is understood.
        prefix: Instead of the option `prefix`.
        ttl: Instead of the option `ttl`.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no secret.
    """
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance] # from untyped code
        raise ConfigurationError(
            f"a store is named by its URL, not by a {type(url).__name__}",
            "for one behind an MCP server: open_store('redis+mcp:COMMAND')",
        )
    try:
        parts = urlsplit(url)
        path, number = kind.paths.get(parts.scheme), parts.port or kind.port
        query = bool(parts.query)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=query))
    except ValueError:
        raise _url_error(url, kind) from None
    local = parts.scheme in _OF_THIS_MACHINE and "://" in url
    if (
        path is None
        or not re.fullmatch(path, parts.path, re.ASCII)
        or parts.fragment
        or local == bool(parts.hostname)
    ):
        raise _url_error(url, kind)
    patterns = {**_KEEPING, **kind.options}
    for option in sorted(options):
        if option not in patterns:
            raise ConfigurationError(
                f"{_mask_secrets(url)!r} has the unknown option {option!r}",
                f"allowed: {', '.join(sorted(patterns))}",
            )
        if not re.fullmatch(patterns[option], options[option], re.ASCII):
            raise ConfigurationError(
                f"{_mask_secrets(url)!r} has a wrong {option}", f"allowed: {kind.forms}"
            )
    rest = {name: value for name, value in options.items() if name not in _KEEPING}
    names = options.get("prefix", DEFAULT_PREFIX) if prefix is None else prefix
    if not re.fullmatch(kind.prefix, names, re.ASCII):
        raise ConfigurationError(
            f"{names!r} is not a prefix for names", f"allowed: {kind.prefixes}"
        )
    if ttl is not None:
        _check_ttl(ttl)
    elif "ttl" in options:
        ttl = parse_ttl(options["ttl"])
    host = parts.hostname or ""
    netloc = f"[{host}]" if ":" in host else host
    return StoreUrl(
        url=f"{url.partition('?')[0]}{'?' if rest else ''}{urlencode(rest)}",
        scheme=parts.scheme,
        server=f"{netloc}:{number}" if number and not local else netloc,
        path=parts.path,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        options=options,
        prefix=names,
        ttl=ttl,
    )


def parse_ttl(text: str) -> float:
    """The seconds that an option of a URL says: `7d`, `12h`, `30m`, or `3600`."""
    duration = parse_duration(f"{text}s" if text.isdecimal() and text.isascii() else text)
    if duration is None:
        raise ConfigurationError(f"{text!r} is not a time to live", "write 7d, 12h, 30m or 3600")
    return _check_ttl(duration.total_seconds())


def _check_ttl(ttl: float) -> float:
    """The same seconds.

    Raises:
        ConfigurationError: Nothing can live for as long.
    """
    if not (math.isfinite(ttl) and 0.001 <= ttl <= 100 * 366 * 86_400):
        raise ConfigurationError(
            f"{ttl!r} seconds are no time to live", "allowed: more than 0, at most 100 years"
        )
    return ttl


def _url_error(url: str, kind: UrlKind) -> ConfigurationError:
    return ConfigurationError(
        f"{_mask_secrets(url)!r} is not the URL of a store: its scheme, server or path is wrong",
        f"allowed: {kind.forms}",
    )


def _mask_secrets(url: str) -> str:
    # Whatever comes before the last @, or after a question mark, may be a secret.
    return re.sub(r"(?s)//.*@", "//***@", re.sub(r"(?s)[?#].*", "", url))[:200]


_TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")
REDIS = UrlKind(
    forms="redis://[user:password@]host[:port][/db] | rediss://... (TLS) | "
    "unix:///path/to/redis.sock[?db=0&password=...], with ?ttl=7d and &prefix=sifaka if wanted",
    paths=MappingProxyType({"redis": r"/?|/\d{1,5}", "rediss": r"/?|/\d{1,5}", "unix": r"/.*"}),
    options=MappingProxyType(
        {"db": r"\d+", **dict.fromkeys(("username", "password", *_TLS), ANYTHING)}
    ),
    prefix=r"[\w.:-]{1,64}",
    prefixes="1 to 64 letters, digits or characters of _ . : -",
)

_SERVER = r"/?|/\w{1,255}/?"
MILVUS = UrlKind(
    forms="milvus:///relative/path.db | milvus:////absolute/path.db | "
    "milvus+http://[user:password@ or :TOKEN@]host[:port][/database] | milvus+https://..., "
    "with ?ttl=7d and &prefix=sifaka if wanted",
    paths=MappingProxyType(
        # A home folder in the URL would end up in the name of a new folder.
        {"milvus": r"/(?!~).+", "milvus+http": _SERVER, "milvus+https": _SERVER}
    ),
    prefix=r"[A-Za-z_]\w{0,63}",
    prefixes="a letter or _, then up to 63 letters, digits or _",
    port=19530,
)
ELASTICSEARCH = UrlKind(
    forms="elasticsearch+https://USER:PASSWORD@host:9200?prefix=sifaka&ttl=30d, or api_key=KEY",
    paths=MappingProxyType({"elasticsearch+http": ".*", "elasticsearch+https": ".*"}),
    options=MappingProxyType({"api_key": r"[\w=+/.:~-]+"}),
    prefix=r"[a-z0-9][a-z0-9_.-]{0,99}",
    prefixes="1 to 100 lower-case letters, digits or _ . - and not one of these first",
    port=9200,
)
