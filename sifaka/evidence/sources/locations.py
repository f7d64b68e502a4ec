"""The place that an adapter was configured with; requests go nowhere else."""

from base64 import b64encode
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.failures import Asked

_KEPT = "/%:@!$&'()*+,;=~"
"""What stands for itself in the path of a URL, and what stands there already quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The URL that all requests of an adapter begin with."""

    url: str
    """Without user, password, query and fragment."""
    adapter: str
    authorization: str = field(default="", repr=False)
    """The header that says who asks, if user and password stood in the URL."""

    @classmethod
    def of(cls, url: str, adapter: str) -> Self:
        """The location that a URL stands for.

        Raises:
            ConfigurationError: It is none of http or https, or has more than a path.
        """
        told = url.strip()
        try:
            parts = urlsplit(told)
            port = parts.port
        except ValueError:
            raise _unusable(adapter, told) from None
        has_more = parts.query or parts.fragment or not told.isprintable() or " " in told
        if parts.scheme not in {"http", "https"} or not parts.hostname or has_more or port == 0:
            raise _unusable(adapter, told)
        authority = parts.netloc.rpartition("@")[2]
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        words = f"{user}:{password}".encode("utf-8", "surrogatepass")
        return cls(
            url=urlunsplit((parts.scheme, authority, parts.path, "", "")),
            adapter=adapter,
            authorization=f"Basic {b64encode(words).decode()}" if "@" in parts.netloc else "",
        )

    def below(self, path: str) -> str:
        """The URL of a path under it; of the location itself when the path is empty.

        Raises:
            SourceError: The path leads out of it.
        """
        if not path:
            return self.url
        steps = unquote(path).replace("\\", "/").split("/")
        if {".", ".."} & set(steps) or "?" in path or "#" in path or not path.isprintable():
            asked = Asked(self.adapter, self.url)
            hint = "give a path below it, without a query"
            raise asked.failure("forbidden", f"is left by {path[:80]!r}", hint)
        return f"{self.url.rstrip('/')}/{quote(path.lstrip('/'), safe=_KEPT)}"


def shown(url: str) -> str:
    """A URL as people may see it: without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a URL that cannot be read"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _unusable(adapter: str, url: str) -> ConfigurationError:
    return ConfigurationError(
        f"{adapter}: {shown(url)[:200]!r} cannot be asked",
        "give the URL of an API without a query, such as https://en.wikipedia.org/w/api.php",
    )
