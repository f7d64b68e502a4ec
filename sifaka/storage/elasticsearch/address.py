"""The URL of an Elasticsearch, and the header that it is asked with."""

import base64
from types import MappingProxyType

from sifaka.errors import ConfigurationError
from sifaka.storage.address import StoreUrl, UrlKind

ELASTICSEARCH = UrlKind(
    forms="elasticsearch+https://USER:PASSWORD@host:9200?prefix=sifaka&ttl=30d, or api_key=KEY",
    paths=MappingProxyType({"elasticsearch+http": ".*", "elasticsearch+https": ".*"}),
    options=MappingProxyType({"api_key": r"[\w=+/.:~-]+"}),
    prefix=r"[a-z0-9][a-z0-9_.-]{0,99}",
    prefixes="1 to 100 lower-case letters, digits or _ . - and not one of these first",
    port=9200,
)


def authorization(address: StoreUrl) -> str | None:
    """The value of the HTTP header of that name; None without credentials.

    Raises:
        ConfigurationError: There are a user and an `api_key`.
    """
    key = address.options.get("api_key")
    pair = f"{address.user}:{address.password}"
    if key is None:
        return None if pair == ":" else f"Basic {base64.b64encode(pair.encode()).decode()}"
    if pair != ":":
        raise ConfigurationError(
            "the Elasticsearch URL has a user and an api_key", "leave one of them out"
        )
    return f"ApiKey {key}"
