"""The URLs of stores: checked, and never shown with a secret."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.storage.cursor import parse_ttl

DEFAULT_PREFIX = "sifaka"
KEEPING = ("ttl", "prefix")
"""The options that say how runs are kept."""
_OF_THIS_MACHINE = frozenset({"milvus", "unix"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreUrl:
    """The parts of a URL."""

    url: str = field(repr=False)
    """The whole of it, which may hold secrets."""
    scheme: str
    server: str
    """The host, with its port; empty for a path on this machine."""
    path: str
    user: str = field(repr=False)
    password: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)

    @property
    def shown(self) -> str:
        """The URL for people to read, without user, password and options."""
        return f"{self.scheme}://{self.server}{unquote(self.path.rstrip('/'))}"

    @property
    def prefix(self) -> str:
        """The beginning of the names of what is kept there; any text."""
        return self.options.get("prefix", DEFAULT_PREFIX)

    @property
    def ttl(self) -> float | None:
        """Seconds after its last entry that a run is forgotten; None keeps it."""
        return parse_ttl(self.options["ttl"]) if "ttl" in self.options else None


def parse_store_url(
    url: str,
    paths: Mapping[str, str],
    *,
    options: Collection[str],
    forms: str,
    port: int | None = None,
) -> StoreUrl:
    """The parts of a URL.

    Args:
        url: The URL.
        paths: The pattern of the path, by scheme.
        options: The names of the options that it may have.
        forms: Every form that is understood, for people.
        port: The port where none is named.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no secret.
    """
    try:
        parts = urlsplit(url)
        path, number = paths.get(parts.scheme), parts.port or port
        query = bool(parts.query)
        found = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=query))
    except ValueError:
        raise wrong_url(url, forms) from None
    local = parts.scheme in _OF_THIS_MACHINE and "://" in url
    if (
        path is None
        or not re.fullmatch(path, parts.path, re.ASCII)
        or parts.fragment
        or local == bool(parts.hostname)
    ):
        raise wrong_url(url, forms)
    for option in sorted(found.keys() - set(options)):
        raise ConfigurationError(
            f"{_masked(url)!r} has the unknown option {option!r}",
            f"allowed: {', '.join(sorted(options)) or 'none'}",
        )
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return StoreUrl(
        url=url,
        scheme=parts.scheme,
        server=f"{shown}:{number}" if number and not local else shown,
        path=parts.path,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        options=found,
    )


def wrong_url(url: str, forms: str) -> ConfigurationError:
    """The error for what is not a URL of these forms."""
    return ConfigurationError(
        f"{_masked(url)!r} is not the URL of a store: its scheme, server or path is wrong",
        f"allowed: {forms}",
    )


def checked_prefix(prefix: str, pattern: str, allowed: str) -> str:
    """The same prefix.

    Raises:
        ConfigurationError: It does not match the pattern.
    """
    if not re.fullmatch(pattern, prefix, re.ASCII):
        raise ConfigurationError(f"{prefix!r} is not a prefix for names", f"allowed: {allowed}")
    return prefix


def _masked(url: str) -> str:
    # Whatever stands before the last @, or after a question mark, may be a secret.
    return re.sub(r"(?s)//.*@", "//***@", re.sub(r"(?s)[?#].*", "", url))[:200]
