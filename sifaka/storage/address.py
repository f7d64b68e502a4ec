"""The URLs of stores: checked, and never shown with a secret."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.storage.cursor import checked_ttl, parse_ttl

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
    """The patterns of the options that the server is told."""
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
        """The path on this machine, as it stands; None for a server."""
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
    try:
        parts = urlsplit(url)
        path, number = kind.paths.get(parts.scheme), parts.port or kind.port
        query = bool(parts.query)
        found = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=query))
    except ValueError:
        raise _wrong_url(url, kind) from None
    local = parts.scheme in _OF_THIS_MACHINE and "://" in url
    if (
        path is None
        or not re.fullmatch(path, parts.path, re.ASCII)
        or parts.fragment
        or local == bool(parts.hostname)
    ):
        raise _wrong_url(url, kind)
    patterns = {**_KEEPING, **kind.options}
    for option in sorted(found):
        if option not in patterns:
            raise ConfigurationError(
                f"{_masked(url)!r} has the unknown option {option!r}",
                f"allowed: {', '.join(sorted(patterns))}",
            )
        if not re.fullmatch(patterns[option], found[option], re.ASCII):
            raise ConfigurationError(
                f"{_masked(url)!r} has a wrong {option}", f"allowed: {kind.forms}"
            )
    rest = {name: value for name, value in found.items() if name not in _KEEPING}
    names = found.get("prefix", DEFAULT_PREFIX) if prefix is None else prefix
    if not re.fullmatch(kind.prefix, names, re.ASCII):
        raise ConfigurationError(
            f"{names!r} is not a prefix for names", f"allowed: {kind.prefixes}"
        )
    if ttl is not None:
        checked_ttl(ttl)
    elif "ttl" in found:
        ttl = parse_ttl(found["ttl"])
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return StoreUrl(
        url=f"{url.partition('?')[0]}{'?' if rest else ''}{urlencode(rest)}",
        scheme=parts.scheme,
        server=f"{shown}:{number}" if number and not local else shown,
        path=parts.path,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        options=found,
        prefix=names,
        ttl=ttl,
    )


def _wrong_url(url: str, kind: UrlKind) -> ConfigurationError:
    return ConfigurationError(
        f"{_masked(url)!r} is not the URL of a store: its scheme, server or path is wrong",
        f"allowed: {kind.forms}",
    )


def _masked(url: str) -> str:
    # Whatever stands before the last @, or after a question mark, may be a secret.
    return re.sub(r"(?s)//.*@", "//***@", re.sub(r"(?s)[?#].*", "", url))[:200]
