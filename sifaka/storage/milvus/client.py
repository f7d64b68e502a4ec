"""The URL of a Milvus, and its client: the one place that imports pymilvus."""

import importlib
import logging
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import KEEPING, StoreUrl, parse_store_url

FORMS = (
    "milvus:///relative/path.db | milvus:////absolute/path.db | "
    "milvus+http://[user:password@ or :TOKEN@]host[:port][/database] | milvus+https://..., "
    "with ?ttl=7d and &prefix=sifaka if wanted"
)
"""Every form that is understood."""
_SERVER = r"/?|/\w{1,255}/?"
# A home folder in the URL would end up in the name of a new folder.
_PATHS = {"milvus": r"/(?!~).+", "milvus+http": _SERVER, "milvus+https": _SERVER}


@dataclass(frozen=True, slots=True, kw_only=True)
class MilvusAddress:
    """The server or the folder of an index."""

    shown: str
    """The URL for people to read, without token and options."""
    folder: Path | None = None
    """Of Milvus Lite; None for a server."""
    uri: str = ""
    """The address for the client; empty for a folder."""
    token: str = field(default="", repr=False)
    database: str = ""

    @property
    def place(self) -> str:
        """The same for every address of the same database."""
        return str(self.folder) if self.folder else f"{self.uri}/{self.database}"


def parse_address(url: str) -> MilvusAddress:
    """The address that a URL without options names.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no token.
    """
    found = parse_url(url, options=())
    if not found.server:
        return MilvusAddress(shown=url, folder=Path(found.path[1:]).absolute())
    return MilvusAddress(
        shown=found.shown,
        uri=f"{found.scheme.removeprefix('milvus+')}://{found.server}",
        token=":".join(part for part in (found.user, found.password) if part),
        database=found.path.strip("/"),
    )


def parse_url(url: str, options: Sequence[str] = KEEPING) -> StoreUrl:
    """The parts of a URL.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no token.
    """
    return parse_store_url(url, _PATHS, options=options, forms=FORMS, port=19530)


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


class RowIterator(Protocol):
    """Rows of a query, page by page; an empty page is the end."""

    next: Callable[[], Sequence[Row]]
    close: Callable[[], None]


class MilvusClient(Protocol):
    """`pymilvus.MilvusClient`, as far as it is used."""

    get_server_version: Callable[[], str]
    list_collections: Callable[..., Sequence[str]]
    describe_collection: Callable[..., Mapping[str, Any]]
    create_collection: Callable[..., None]
    drop_collection: Callable[..., None]
    create_index: Callable[..., None]
    load_collection: Callable[..., None]
    upsert: Callable[..., object]
    flush: Callable[..., None]
    delete: Callable[..., object]
    compact: Callable[..., object]
    get: Callable[..., Sequence[Row]]
    query: Callable[..., Sequence[Row]]
    query_iterator: Callable[..., RowIterator]
    search: Callable[..., Sequence[Sequence[Row]]]
    close: Callable[[], None]


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


def connect(address: MilvusAddress, uri: str) -> MilvusClient:
    """A client with a connection of its own, which closes with it."""
    package = pymilvus()
    with failures(address.shown):
        client = package.MilvusClient(
            uri,
            token=address.token,
            db_name=address.database,
            timeout=CONNECT_SECONDS,
            dedicated=True,
        )
        return cast("MilvusClient", client)


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
