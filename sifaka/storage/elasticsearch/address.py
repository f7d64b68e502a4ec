"""The URL of an Elasticsearch, and the names of what is kept there."""

import base64
import re
from dataclasses import dataclass, field
from datetime import timedelta

from sifaka.errors import ConfigurationError
from sifaka.storage.address import KEEPING, StoreUrl, checked_prefix, parse_store_url

_PATHS = {"elasticsearch+http": ".*", "elasticsearch+https": ".*"}
_FORM = "elasticsearch+https://USER:PASSWORD@host:9200?prefix=sifaka&ttl=30d"


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
        found = parse_store_url(url, _PATHS, options=("api_key", *KEEPING), forms=_FORM, port=9200)
        ttl = found.ttl
        return cls(
            url=f"{found.scheme.removeprefix('elasticsearch+')}://{found.server}"
            f"{found.path.rstrip('/')}",
            authorization=_authorization(found),
            prefix=checked_prefix(
                found.prefix,
                r"[a-z0-9][a-z0-9_.-]{0,99}",
                "1 to 100 lower-case letters, digits or _ . - and not one of these first",
            ),
            ttl=None if ttl is None else timedelta(seconds=ttl),
        )


def _authorization(found: StoreUrl) -> str | None:
    key = found.options.get("api_key")
    if key is not None:
        if found.user or not re.fullmatch(r"[\w=+/.:~-]+", key, re.ASCII):
            raise ConfigurationError(
                "the Elasticsearch URL has a wrong api_key", f"such as {_FORM}"
            )
        return f"ApiKey {key}"
    pair = f"{found.user}:{found.password}"
    return None if pair == ":" else f"Basic {base64.b64encode(pair.encode()).decode()}"
