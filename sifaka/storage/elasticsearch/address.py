"""The URL of an Elasticsearch, and the names of what is kept there."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.storage.cursor import parse_ttl

_SCHEMES = {"elasticsearch+http": "http", "elasticsearch+https": "https"}
_FORM = "elasticsearch+https://USER:PASSWORD@host:9200?prefix=sifaka&ttl=30d"
_PORT = 9200
_OPTIONS = ("api_key", "prefix", "ttl")
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server and the part of it that is ours."""

    url: str
    """The server's URL, without credentials."""
    authorization: str | None = field(default=None, repr=False)
    """The value of the HTTP header of that name."""
    prefix: str = "sifaka"
    """The beginning of the names of the indices."""
    ttl: timedelta | None = None
    """The life of a run after its last version; None means for ever."""

    @property
    def versions(self) -> str:
        """The alias of the index, with a document a version."""
        return f"{self.prefix}-versions"

    @classmethod
    def of_url(cls, url: str) -> "Address":
        """The address in a URL such as `elasticsearch+https://host:9200?prefix=sifaka&ttl=30d`.

        Credentials are `USER:PASSWORD@` before the host or the parameter `api_key`.

        Raises:
            ConfigurationError: A part of it is wrong; the message has no credentials.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or _PORT
        except ValueError as error:
            raise _wrong("host or port") from error
        if parts.scheme not in _SCHEMES or not host or parts.fragment:
            raise _wrong("scheme or host")
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise _wrong(f"parameter {unknown[0]!r}")
        prefix = options.get("prefix", "sifaka")
        if not _PREFIX.fullmatch(prefix):
            raise ConfigurationError(
                f"{prefix!r} cannot begin the name of an index",
                "prefix: 1 to 100 lower-case letters, digits or _ . - and not one of these first",
            )
        ttl = options.get("ttl")
        shown = f"[{host}]" if ":" in host else host
        return cls(
            url=f"{_SCHEMES[parts.scheme]}://{shown}:{port}{parts.path.rstrip('/')}",
            authorization=_authorization(parts, options),
            prefix=prefix,
            ttl=None if ttl is None else timedelta(seconds=parse_ttl(ttl)),
        )


def _authorization(parts: SplitResult, options: Mapping[str, str]) -> str | None:
    key = options.get("api_key")
    if parts.username is None and key is None:
        return None
    if key is not None:
        if parts.username is not None or not re.fullmatch(r"[\w=+/.:~-]+", key, re.ASCII):
            raise _wrong("api_key")
        return f"ApiKey {key}"
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(f"the Elasticsearch URL has a wrong {what}", f"such as {_FORM}")
