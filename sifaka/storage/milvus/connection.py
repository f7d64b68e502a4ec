"""One connection to Milvus: the rows of its collections, and what all indexes of one place share.

It is used from threads, so that no event loop waits for it. Milvus Lite is a server inside this
process for each folder, shared by all who use the folder.
"""

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl
from sifaka.storage.entry_json import batches
from sifaka.storage.milvus.client import (
    CALL_SECONDS,
    MilvusClient,
    Row,
    compare,
    connect,
    create,
    joined,
    translate,
)
from sifaka.storage.store import Worker


@dataclass(slots=True, eq=False)
class MilvusPlace:
    """What all connections of this process to one server or folder share, as long as one is open.

    It has their locks, and the versions that each collection of vectors lacks.
    """

    uri: str
    stop: Callable[[], None]
    """Called after the last of them."""
    users: int = 0
    opening: threading.Lock = field(default_factory=threading.Lock)
    writing: threading.Lock = field(default_factory=threading.Lock)
    """Milvus Lite takes one write to a collection at a time."""
    unsettled: dict[str, int] = field(default_factory=dict[str, int])
    """The rows of each index since its last flush; guarded by `writing`."""
    missing: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """By collection, once it was compared: the keys of the versions that it lacks, and their
    tenants. Each change and each look is one step for all threads."""
    purged: set[str] = field(default_factory=set[str])
    """The collections whose files may hold rows that were removed."""


MOST_ROWS = 16_384
"""The rows that one search or query returns at most."""
_BATCH_ROWS = 500
_HEAD_FIELDS = (
    *("tenant", "run", "run_id", "number", "chunk", "chunks"),
    *("expires_at", "passed", "tags"),
)


@dataclass(slots=True)
class MilvusConnection:
    """An open client with the collections that it has looked at."""

    client: MilvusClient
    version: str
    prefix: str
    """The beginning of the names of its collections."""
    shared: MilvusPlace
    ready: set[str] = field(default_factory=set[str])
    """The collections that are known to be there."""

    @property
    def thoughts(self) -> str:
        """A row a version with the whole of it, or several for a long one."""
        return f"{self.prefix}_thoughts"

    @property
    def words(self) -> str:
        """A row a version, for full-text search."""
        return f"{self.prefix}_thought_terms"

    @property
    def full_text(self) -> bool:
        """True when the server has BM25."""
        return self.words in self.ready

    def vectors(self, model_id: str) -> str:
        """A row a version that has a vector of this model: each model has a collection."""
        return f"{self.prefix}_thought_vectors_{sha256(model_id.encode()).hexdigest()[:12]}"

    def is_index(self, name: str) -> bool:
        """True for the collections that are made of the thoughts."""
        return name == self.words or name.startswith(f"{self.prefix}_thought_vectors_")

    def ensure(self, name: str, kind: str, dimension: int = 2) -> str:
        """Make a collection unless it is there, and make it answer; its name.

        The kind is `thoughts`, `words` or `vectors`. Another collection of this name is not
        changed. Where a server has no full text, that of the words does not become ready.
        """
        if name in self.ready:
            return name
        with self.shared.opening:
            exists = name in self.client.list_collections()
            if not exists and not create(self.client, name, kind, dimension):
                return name
            layout = self.client.describe_collection(name)
            compare(name, kind, dimension, layout)
            if kind == "words" and not layout.get("functions"):
                # Older servers accept the schema and drop the function.
                self.client.drop_collection(name)
                return name
            self.client.load_collection(name)
        self.ready.add(name)
        return name

    def list_names(self) -> Sequence[str]:
        """The collections that are there."""
        return self.client.list_collections(timeout=CALL_SECONDS)

    def put(self, collection: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Write rows, replacing those of the same keys."""
        # So that each fits into one message of a server.
        sized = ((row, _estimate_size(row)) for row in rows)
        for batch in batches(sized, size=2_000_000, count=_BATCH_ROWS):
            with self.shared.writing:
                self.client.upsert(collection, batch, timeout=CALL_SECONDS)
                if self.version.startswith("milvus_lite") and self.is_index(collection):
                    # It reads what it has not flushed row by row: with 10,000 of them a search
                    # takes 700 ms, afterwards 10. Servers do it by themselves.
                    unsettled = self.shared.unsettled
                    unsettled[collection] = unsettled.get(collection, 0) + len(batch)
                    if unsettled[collection] >= 500:
                        self.client.flush(collection, timeout=CALL_SECONDS)
                        unsettled[collection] = 0

    def get(
        self, collection: str, keys: Sequence[str], fields: Sequence[str], *, strong: bool
    ) -> dict[str, Row]:
        """The rows of some keys, those that are there."""
        by_key: dict[str, Row] = {}
        for batch in batches(((key, 0) for key in keys), size=0, count=_BATCH_ROWS):
            rows = self.client.get(
                collection,
                ids=batch,
                output_fields=["pk", *fields],
                consistency_level="Strong" if strong else "Eventually",
                timeout=CALL_SECONDS,
            )
            by_key |= {str(row["pk"]): row for row in rows}
        return by_key

    def heads(self, keys: Sequence[str]) -> dict[str, Row]:
        """The first rows of some versions without their text, those that are there, by key."""
        rows = self.get(self.thoughts, [f"{key}:0" for key in keys], _HEAD_FIELDS, strong=True)
        return {name.removesuffix(":0"): row for name, row in rows.items()}

    def versions(self, keys: Sequence[str], *, strong: bool) -> dict[str, tuple[Row, str]]:
        """Some versions: the first row of each and its JSON, in the order of the keys."""
        fields = (*_HEAD_FIELDS, "payload")
        rows = self.get(self.thoughts, [f"{k}:0" for k in keys], fields, strong=strong)
        firsts = {key: rows[f"{key}:0"] for key in keys if f"{key}:0" in rows}
        more = [
            f"{key}:{chunk}" for key, row in firsts.items() for chunk in range(1, row["chunks"])
        ]
        rows |= self.get(self.thoughts, more, fields, strong=strong)
        whole = joined(list(rows.values()))
        return {key: (row, whole[key]) for key, row in firsts.items() if key in whole}

    def select(self, collection: str, condition: str, fields: Sequence[str]) -> list[Row]:
        """Every row that a condition holds for, in no order."""
        options: dict[str, Any] = {
            "filter": condition,
            "output_fields": ["pk", *fields],
            "consistency_level": "Strong",
            "timeout": CALL_SECONDS,
        }
        rows = list(self.client.query(collection, limit=MOST_ROWS, **options))
        if len(rows) < MOST_ROWS:
            return rows
        pages = self.client.query_iterator(collection, batch_size=MOST_ROWS // 4, **options)
        rows.clear()
        while page := pages.next():
            rows += page
        pages.close()
        return rows

    def nearest(
        self, collection: str, query: object, field: str, condition: str, limit: int
    ) -> list[tuple[str, float]]:
        """The keys of the best rows and how good they are, best first."""
        (hits,) = self.client.search(
            collection,
            data=[query],
            anns_field=field,
            filter=condition,
            limit=limit,
            output_fields=["pk"],
            consistency_level="Strong",
            timeout=CALL_SECONDS,
        )
        # Milvus Lite gives a BM25 score as a negative distance.
        read = abs if field == "sparse" else float
        scores = [(str(hit["pk"]), read(float(hit["distance"]))) for hit in hits]
        return sorted(scores, key=lambda hit: (-hit[1], hit[0]))

    def remove(self, collection: str, keys: Sequence[str]) -> None:
        """Delete the rows of some keys, and those that are gone already."""
        for batch in batches(((key, 0) for key in keys), size=0, count=_BATCH_ROWS):
            with self.shared.writing:
                self.client.delete(collection, ids=batch, timeout=CALL_SECONDS)

    def compact(self, collection: str) -> None:
        """Flush a collection, and ask the server to merge its segments."""
        with self.shared.writing:
            if collection in self.list_names():
                self.client.flush(collection, timeout=CALL_SECONDS)
                self.client.compact(collection, timeout=CALL_SECONDS)


def _estimate_size(row: Mapping[str, object]) -> int:
    return 4 * sum(len(value) for value in row.values() if isinstance(value, str))


class MilvusWorker(Worker[MilvusConnection]):
    """Runs functions on the connection, some at a time."""

    def __init__(self, address: StoreUrl) -> None:
        super().__init__(f"the index {address.shown!r}", 8)
        self._address = address

    def _open(self, current: MilvusConnection | None) -> MilvusConnection:
        if current is not None:
            return current
        address = self._address
        place = enter(address)
        with ExitStack() as undo:
            undo.callback(leave, address)
            client = connect(address, place.uri)
            undo.callback(client.close)
            version: str = client.get_server_version()
            opened = MilvusConnection(client, version, address.prefix, place)
            opened.ensure(opened.thoughts, "thoughts")
            opened.ensure(opened.words, "words")
            undo.pop_all()
        return opened

    def _close(self, opened: MilvusConnection) -> None:
        opened.client.close()
        leave(self._address)

    def _translate(self, error: Exception) -> StorageError | None:
        return translate(self._address.shown, error)


_places: dict[str, MilvusPlace] = {}
"""For the process: the lock on a folder is the process's too."""
_guard = threading.Lock()


def enter(address: StoreUrl) -> MilvusPlace:
    """The place of an address; for a folder with a server on a free port. `leave` it once each."""
    name = str(address.folder or address.shown)
    with _guard:
        place = _places.get(name)
        if place is None:
            folder = address.folder
            place = _start_server(folder) if folder else MilvusPlace(address.base, lambda: None)
            _places[name] = place
        place.users += 1
        return place


def leave(address: StoreUrl) -> None:
    """Release a place after its last user in this process."""
    name = str(address.folder or address.shown)
    with _guard:
        place = _places[name]
        place.users -= 1
        if not place.users:
            del _places[name]
            place.stop()


def _start_server(folder: Path) -> MilvusPlace:
    try:
        lite = importlib.import_module("milvus_lite.adapter.grpc.server")
        errors = importlib.import_module("milvus_lite.exceptions")
    except ImportError as error:
        raise ConfigurationError(
            f"{str(folder)!r} needs Milvus Lite: {error}",
            install("milvus"),
        ) from error
    if folder.is_file():
        raise ConfigurationError(
            f"{str(folder)!r} is a file, and Milvus Lite keeps a folder", "name another path"
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        server, database, port = lite.start_server_in_thread(str(folder), host="127.0.0.1", port=0)
    except errors.DataDirLockedError as error:
        raise StorageError(
            f"another process has the Milvus Lite folder {str(folder)!r} open",
            "only one at a time can; close the other, or use a Milvus server",
        ) from error
    except (OSError, errors.MilvusLiteError) as error:
        raise StorageError(
            f"the Milvus Lite folder {str(folder)!r} cannot be opened: {error}",
            "check the folder and the rights on it",
        ) from error

    def stop() -> None:
        server.stop(None).wait()
        database.close()

    return MilvusPlace(f"http://127.0.0.1:{port}", stop)
