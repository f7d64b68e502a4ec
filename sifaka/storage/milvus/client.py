"""The URL of a Milvus, and its client: the one place that imports pymilvus."""

import importlib
import logging
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeAlias

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl, UrlKind

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
Row = Mapping[str, Any]
"""One row of a collection, by the names of its fields."""
CONNECT_SECONDS = 3.0
CALL_SECONDS = 10.0
"""After which a call to a server that does not answer fails."""
_UNREACHABLE = re.compile(
    r"Fail connecting|server unavailable|Retry timeout|UNAVAILABLE|DEADLINE_EXCEEDED|rate limit",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\bauth|UNAUTHENTICATED|PERMISSION_DENIED|permission", re.IGNORECASE)


MilvusClient: TypeAlias = Any
"""`pymilvus.MilvusClient`, which has no types; those of its answers are `MilvusConnection`'s."""


def pymilvus() -> Any:
    """The package, imported on first use: that takes seconds and some 140 MB."""
    before = frozenset(os.environ)
    try:
        module = importlib.import_module("pymilvus")
    except ImportError as error:
        raise ConfigurationError(
            f"a Milvus store needs a package that is missing: {error}",
            install("milvus"),
        ) from error
    # While it is imported it reads a `.env` file into the environment, which is not ours to fill.
    for name in os.environ.keys() - before:
        del os.environ[name]
    # It logs every failed call with a traceback, and the call fails as well.
    for name in ("pymilvus", "pymilvus.milvus_client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return module


def login(address: StoreUrl) -> Mapping[str, str]:
    """The token of a server, and the database there."""
    token = ":".join(part for part in (address.user, address.password) if part)
    return {"token": token, "db_name": "" if address.folder else address.path.strip("/")}


def connect(address: StoreUrl, uri: str) -> MilvusClient:
    """A client with a connection of its own, which closes with it."""
    package = pymilvus()
    with failures(address.shown):
        return package.MilvusClient(
            uri,
            **login(address),
            timeout=CONNECT_SECONDS,
            dedicated=True,
        )


@contextmanager
def failures(shown: str) -> Generator[None]:
    """Translate what pymilvus and gRPC raise.

    Raises:
        StorageError: Milvus failed; `retryable` where it was away or busy.
    """
    package = pymilvus()
    grpc: Any = importlib.import_module("grpc")
    raised: tuple[type[Exception], ...] = (grpc.RpcError, package.MilvusException)
    try:
        yield
    except raised as error:
        raise _translated(shown, error) from error


def _translated(shown: str, error: Exception) -> StorageError:
    line = " ".join(str(getattr(error, "message", "") or error).split())[:300]
    # A refused connection looks like one that failed, but for its cause.
    if _DENIED.search(f"{line} {error.__cause__}"):
        return StorageError(
            f"the Milvus server {shown!r} refuses the user name, the password or the token",
            "check them in SIFAKA_STORE, and that the user may use these collections",
        )
    if _UNREACHABLE.search(line):
        return StorageError(
            f"the Milvus server {shown!r} cannot be reached or is too busy",
            "check that it runs and that the URL is right",
            retryable=True,
        )
    return StorageError(f"the Milvus store {shown!r} failed: {line}", "look into its log")
