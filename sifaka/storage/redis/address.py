"""The URL of a Redis server."""

from urllib.parse import urlencode

from sifaka.storage.address import KEEPING, StoreUrl, parse_store_url, wrong_url

FORMS = (
    "redis://[user:password@]host[:port][/db] | rediss://... (TLS) | "
    "unix:///path/to/redis.sock[?db=0&password=...], with ?ttl=7d and &prefix=sifaka if wanted"
)
"""Every form that is understood."""
_PASSED_ON = (
    *("db", "username", "password"),
    *("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname"),
)
_PATHS = {"redis": r"/?|/\d{1,5}", "rediss": r"/?|/\d{1,5}", "unix": r"/.*"}


def take_options(url: str) -> tuple[str, StoreUrl]:
    """A URL without our own options, `ttl` and `prefix`, and what it says with them.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no password.
    """
    found = parse_store_url(url, _PATHS, options=(*KEEPING, *_PASSED_ON), forms=FORMS)
    rest = {name: value for name, value in found.options.items() if name not in KEEPING}
    return f"{url.partition('?')[0]}{'?' if rest else ''}{urlencode(rest)}", found


def parse_address(url: str) -> StoreUrl:
    """The server that a URL names.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no password.
    """
    found = parse_store_url(url, _PATHS, options=_PASSED_ON, forms=FORMS)
    if not found.options.get("db", "0").isdecimal():
        raise wrong_url(url, FORMS)
    return found
