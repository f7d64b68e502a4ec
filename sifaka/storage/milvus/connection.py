"""Reading and writing rows of the collections, and what all indexes of one place share."""

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sifaka.storage.entry_json import batches
from sifaka.storage.milvus.client import CALL_SECONDS, MilvusClient, Row, failures
from sifaka.storage.milvus.rows import joined
from sifaka.storage.milvus.schema import Collections, ensure


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
_UNSETTLED = 500
_BATCH_BYTES = 2_000_000


@dataclass(slots=True)
class MilvusConnection:
    """An open client with the collections that it has looked at."""

    client: MilvusClient
    shown: str
    version: str
    names: Collections
    shared: MilvusPlace
    full_text: bool
    """True when the server has BM25."""
    ready: set[str]
    """The collections of vectors that are known to be there."""

    def ensure_vectors(self, model_id: str, dimension: int) -> str:
        """The collection of a model."""
        name = self.names.vectors(model_id)
        if name not in self.ready:
            with self.shared.opening:
                ensure(self.client, self.shown, name, "vectors", dimension)
            self.ready.add(name)
        return name

    def list_names(self) -> Sequence[str]:
        """The collections that are there."""
        with failures(self.shown):
            return self.client.list_collections(timeout=CALL_SECONDS)

    def put(self, collection: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Write rows, replacing those of the same keys."""
        # So that each fits into one message of a server.
        sized = ((row, _size(row)) for row in rows)
        for batch in batches(sized, size=_BATCH_BYTES, count=_BATCH_ROWS):
            with self._writing():
                self.client.upsert(collection, batch, timeout=CALL_SECONDS)
                if self.version.startswith("milvus_lite") and self.names.is_index(collection):
                    self._settle(collection, len(batch))

    def get(
        self, collection: str, keys: Sequence[str], fields: Sequence[str], *, strong: bool
    ) -> dict[str, Row]:
        """The rows of some keys, those that are there."""
        found: dict[str, Row] = {}
        for batch in _batches(keys):
            with failures(self.shown):
                rows = self.client.get(
                    collection,
                    ids=batch,
                    output_fields=["pk", *fields],
                    consistency_level="Strong" if strong else "Eventually",
                    timeout=CALL_SECONDS,
                )
                found |= {str(row["pk"]): row for row in rows}
        return found

    def heads(self, keys: Sequence[str]) -> dict[str, Row]:
        """The first rows of some versions without their text, those that are there, by key."""
        rows = self.get(
            self.names.thoughts, [f"{key}:0" for key in keys], _HEAD_FIELDS, strong=True
        )
        return {name.removesuffix(":0"): row for name, row in rows.items()}

    def versions(self, keys: Sequence[str], *, strong: bool) -> dict[str, tuple[Row, str]]:
        """Some versions: the first row of each and its JSON, in the order of the keys."""
        fields = (*_HEAD_FIELDS, "payload")
        found = self.get(self.names.thoughts, [f"{k}:0" for k in keys], fields, strong=strong)
        firsts = {key: found[f"{key}:0"] for key in keys if f"{key}:0" in found}
        more = [
            f"{key}:{chunk}" for key, row in firsts.items() for chunk in range(1, row["chunks"])
        ]
        found |= self.get(self.names.thoughts, more, fields, strong=strong)
        whole = joined(list(found.values()))
        return {key: (row, whole[key]) for key, row in firsts.items() if key in whole}

    def select(self, collection: str, condition: str, fields: Sequence[str]) -> list[Row]:
        """Every row that a condition holds for, in no order."""
        asked: dict[str, Any] = {
            "filter": condition,
            "output_fields": ["pk", *fields],
            "consistency_level": "Strong",
            "timeout": CALL_SECONDS,
        }
        with failures(self.shown):
            rows = list(self.client.query(collection, limit=MOST_ROWS, **asked))
            if len(rows) < MOST_ROWS:
                return rows
            pages = self.client.query_iterator(collection, batch_size=MOST_ROWS // 4, **asked)
            rows.clear()
            while page := pages.next():
                rows += page
            pages.close()
            return rows

    def nearest(
        self, collection: str, what: object, *, field: str, condition: str, limit: int
    ) -> list[tuple[str, float]]:
        """The keys of the best rows and how good they are, best first."""
        with failures(self.shown):
            (found,) = self.client.search(
                collection,
                data=[what],
                anns_field=field,
                filter=condition,
                limit=limit,
                output_fields=["pk"],
                consistency_level="Strong",
                timeout=CALL_SECONDS,
            )
        scores = [(str(hit["pk"]), float(hit["distance"])) for hit in found]
        if field == "sparse":  # Milvus Lite tells a BM25 score as a negative distance
            scores = [(key, abs(score)) for key, score in scores]
        return sorted(scores, key=lambda hit: (-hit[1], hit[0]))

    def remove(self, collection: str, keys: Sequence[str]) -> None:
        """Delete the rows of some keys, and those that are gone already."""
        for batch in _batches(keys):
            with self._writing():
                self.client.delete(collection, ids=batch, timeout=CALL_SECONDS)

    def compact(self, collection: str) -> None:
        """Flush a collection, and ask the server to merge its segments."""
        with self._writing():
            if collection in self.client.list_collections(timeout=CALL_SECONDS):
                self.client.flush(collection, timeout=CALL_SECONDS)
                self.client.compact(collection, timeout=CALL_SECONDS)

    def _settle(self, collection: str, rows: int) -> None:
        # Milvus Lite reads what it has not flushed row by row: with 10,000 of them a search takes
        # 700 ms, afterwards 10. Servers do it by themselves.
        unsettled = self.shared.unsettled
        unsettled[collection] = unsettled.get(collection, 0) + rows
        if unsettled[collection] >= _UNSETTLED:
            self.client.flush(collection, timeout=CALL_SECONDS)
            unsettled[collection] = 0

    @contextmanager
    def _writing(self) -> Generator[None]:
        # Milvus Lite takes one write to a collection at a time.
        with failures(self.shown), self.shared.writing:
            yield


def _batches(keys: Sequence[str]) -> list[list[str]]:
    return [list(keys[n : n + _BATCH_ROWS]) for n in range(0, len(keys), _BATCH_ROWS)]


def _size(row: Mapping[str, object]) -> int:
    return 4 * sum(len(value) for value in row.values() if isinstance(value, str))
