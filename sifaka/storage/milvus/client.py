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
from urllib.parse import parse_qsl, unquote, urlsplit

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.cursor import parse_ttl

FORMS = (
    "milvus:///relative/path.db | milvus:////absolute/path.db | "
    "milvus+http://[user:password@ or :TOKEN@]host[:port][/database] | milvus+https://..., "
    "with ?ttl=7d and &prefix=sifaka if wanted"
)
"""Every form that is understood."""
DEFAULT_PREFIX = "sifaka"


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
    shown = re.sub(r"(?s)//.*@", "//***@", re.sub(r"(?s)[?#].*", "", url))
    wrong = ConfigurationError(f"{shown!r} is not the URL of a Milvus store", f"allowed: {FORMS}")
    scheme, _, rest = url.partition(":")
    if scheme.lower() == "milvus":
        path = rest.removeprefix("///")
        # What is left of an option or a home folder would end up in the name of a new folder.
        if path == rest or not path or path.startswith("~") or re.search(r"[?#]", path):
            raise wrong
        return MilvusAddress(shown=shown, folder=Path(path).absolute())
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 19530
    except ValueError:
        raise wrong from None
    database = re.fullmatch(r"/?|/(\w{1,255})/?", parts.path, re.ASCII)
    transport = parts.scheme.lower().removeprefix("milvus+")
    if transport not in {"http", "https"} or transport == parts.scheme.lower():
        raise wrong
    if not host or database is None or parts.query or parts.fragment:
        raise wrong
    name = f"{f'[{host}]' if ':' in host else host}:{port}"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MilvusAddress(
        shown=f"milvus+{transport}://{name}{parts.path.rstrip('/')}",
        uri=f"{transport}://{name}",
        token=f"{user}:{password}" if user and password else user or password,
        database=database[1] or "",
    )


def split_options(url: str) -> tuple[str, str, float | None]:
    """The URL without its options, and these: the prefix and the seconds to live."""
    plain, _, query = url.partition("?")
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        options = {query: ""}
    for option in options.keys() - {"ttl", "prefix"}:
        raise ConfigurationError(
            f"{parse_address(plain).shown!r} has the unknown option {option!r}",
            "allowed: ttl, prefix",
        )
    prefix = options.get("prefix", DEFAULT_PREFIX)
    return plain, prefix, parse_ttl(options["ttl"]) if "ttl" in options else None


def checked_prefix(prefix: str) -> str:
    """The same prefix.

    Raises:
        ConfigurationError: No collection's name can begin with it.
    """
    if not re.fullmatch(r"[A-Za-z_]\w{0,63}", prefix, re.ASCII):
        raise ConfigurationError(
            f"{prefix!r} is not a prefix for the names of collections",
            "allowed: a letter or _, then up to 63 letters, digits or _",
        )
    return prefix


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
