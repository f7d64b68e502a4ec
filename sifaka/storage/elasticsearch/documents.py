"""The calls of Elasticsearch's document and search APIs that the index is made of.

https://www.elastic.co/docs/api/doc/elasticsearch/group/endpoint-document
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from sifaka.storage.elasticsearch.answers import Answer, Json
from sifaka.storage.elasticsearch.connection import ANSWER_SECONDS, HttpConnection

_BULK_BYTES = 8_000_000
"""Well below the 100 MB that a server takes by default."""
READ_AT_ONCE = 200
"""Small documents in one answer."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document and the state of it that a write may be tied to."""

    source: Json
    seq_no: int
    primary_term: int


@dataclass(frozen=True, slots=True)
class Action:
    """One line, or two, of a bulk request."""

    operation: str
    meta: Json
    body: Json | None = None

    def encoded(self) -> bytes:
        """As newline-delimited JSON."""
        lines = [{self.operation: self.meta}, *([self.body] if self.body is not None else [])]
        return b"".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            for line in lines
        )


class Documents:
    """Reads and writes documents; reads by id see every write at once, searches after a refresh.

    What may create a document goes to an alias only: a server would otherwise make an index that
    was lost anew, and guess its layout.
    """

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self.address = connection.address
        self.ready = False
        """Whether the index is known to be there."""

    async def get_many(
        self, index: str, ids: Sequence[str], *, at_once: int = READ_AT_ONCE
    ) -> list[StoredDocument | None]:
        """Documents in the order of their ids; None for each that is not there."""
        found: list[StoredDocument | None] = []
        for begin in range(0, len(ids), at_once):
            chunk = list(ids[begin : begin + at_once])
            answer = await self._connection.send("POST", f"/{index}/_mget", {"ids": chunk})
            for item in cast("list[Json]", answer.checked()["docs"]):
                if "error" in item:
                    raise Answer(404, item, answer.where).failure()
                found.append(_document(item) if item["found"] else None)
        return found

    async def bulk(
        self, index: str, actions: Sequence[Action], *, tolerated: frozenset[int] = frozenset()
    ) -> list[int]:
        """Carry out many writes, in order, not all or none; the status of each.

        Raises:
            StorageError: One failed with a status that is not `tolerated`, after all were tried.
        """
        statuses: list[int] = []
        for body in _bodies(actions):
            answer = await self._connection.send(
                "POST", f"/{index}/_bulk", body, require_alias="true"
            )
            for item in cast("list[dict[str, Json]]", answer.checked()["items"]):
                (result,) = item.values()
                status = cast("int", result["status"])
                if status >= 300 and status not in tolerated:
                    raise Answer(status, result, answer.where).failure()
                statuses.append(status)
        return statuses

    async def refresh(self, *indices: str) -> None:
        """Make every write so far visible to searches.

        Done before a search instead of after each write: there are fewer of them, nothing is done
        where nothing was written, and everybody sees what anybody has written.
        """
        answer = await self._connection.send("POST", f"/{','.join(indices)}/_refresh")
        answer.checked()

    async def search(self, index: str, body: Json) -> Json:
        """The `hits` object of a search."""
        answer = await self._connection.send("POST", f"/{index}/_search", body)
        return cast("Json", answer.checked()["hits"])

    async def delete_matching(self, query: Json, *indices: str) -> None:
        """Remove every document that a query matches."""
        await self.refresh(*indices)
        answer = await self._connection.send(
            "POST",
            f"/{','.join(indices)}/_delete_by_query",
            {"query": query},
            conflicts="proceed",
        )
        answer.checked()

    async def send(
        self, method: str, path: str, body: Json | None = None, *, seconds: float = ANSWER_SECONDS
    ) -> Answer:
        """A request about an index as a whole."""
        return await self._connection.send(method, path, body, seconds=seconds)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connection.aclose()


def _bodies(actions: Sequence[Action]) -> list[bytes]:
    bodies: list[bytes] = []
    lines: list[bytes] = []
    size = 0
    for encoded in (action.encoded() for action in actions):
        if lines and size + len(encoded) > _BULK_BYTES:
            bodies.append(b"".join(lines))
            lines, size = [], 0
        lines.append(encoded)
        size += len(encoded)
    return [*bodies, b"".join(lines)] if lines else bodies


def _document(item: Json) -> StoredDocument:
    source: Any = item["_source"]
    return StoredDocument(source, item["_seq_no"], item["_primary_term"])
