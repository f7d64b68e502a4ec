"""The URL of a Redis server."""

from types import MappingProxyType

from sifaka.storage.address import ANYTHING, UrlKind

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
