"""The part of pymilvus that is used, with types: the one place that imports it."""

import importlib
import logging
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.milvus.address import MilvusAddress

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
            "pip install 'sifaka-mcp[milvus]'",
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
