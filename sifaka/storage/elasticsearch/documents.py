"""The documents of the index: their layout, and how they are written.

https://www.elastic.co/docs/api/doc/elasticsearch/group/endpoint-document
"""

from collections.abc import Iterable, Mapping
from typing import cast

from sifaka.storage.elasticsearch.connection import Answer, HttpConnection, Json, encode_json
from sifaka.storage.entry_json import batches

_BULK_BYTES = 8_000_000
"""Well below the 100 MB that a server takes by default."""
_BULK_LINES = 10_000


class Documents:
    """Reads and writes documents; reads by id see every write at once, searches after a refresh.

    Documents are created through the alias only: a server would otherwise make an index that was
    lost anew, and guess its layout.
    """

    def __init__(self, connection: HttpConnection, prefix: str) -> None:
        self.connection = connection
        self.alias = f"{prefix}-versions"
        """The alias of the index, with a document a version."""
        self.ready = False
        """True once the index is known to be there."""
        self.deleted = False
        """True while deleted versions may be in the server's files."""

    async def update(
        self, changes: Mapping[str, Json], *, tolerated: frozenset[int] = frozenset()
    ) -> None:
        """Carry out updates of documents, by id, in order, not all or none.

        Raises:
            StorageError: One failed with a status that is not `tolerated`, after all were tried.
        """
        path = f"/{self.alias}/_bulk"
        for body in _bodies(changes.items()):
            answer = await self.connection.send("POST", path, body, require_alias="true")
            for item in cast("list[dict[str, Json]]", answer.checked()["items"]):
                (result,) = item.values()
                if result["status"] >= 300 and result["status"] not in tolerated:
                    raise Answer(result["status"], result, answer.where).failure()

    async def refresh(self) -> None:
        """Make every write so far visible to searches.

        Done before a search instead of after each write: there are fewer of them, nothing is done
        where nothing was written, and every search sees every write.
        """
        (await self.connection.send("POST", f"/{self.alias}/_refresh")).checked()

    async def search(self, body: Json) -> Json:
        """The `hits` object of a search."""
        answer = await self.connection.send("POST", f"/{self.alias}/_search", body)
        return cast("Json", answer.checked()["hits"])

    async def delete_matching(self, query: Json) -> None:
        """Remove every version that a query matches."""
        await self.refresh()
        path = f"/{self.alias}/_delete_by_query"
        answer = await self.connection.send("POST", path, {"query": query}, conflicts="proceed")
        self.deleted |= bool(answer.checked().get("deleted"))

    async def expunge(self) -> None:
        """Rewrite the segments of which much was deleted: until then the server holds it.

        https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-indices-forcemerge
        """
        if self.deleted:
            path = f"/{self.alias}/_forcemerge"
            answer = await self.connection.send("POST", path, only_expunge_deletes="true")
            answer.checked()
            self.deleted = False


def _bodies(changes: Iterable[tuple[str, Json]]) -> Iterable[bytes]:
    heads: Iterable[tuple[Json, Json]] = (
        ({"update": {"_id": doc_id, "retry_on_conflict": 3}}, change) for doc_id, change in changes
    )
    lines = (encode_json(head) + b"\n" + encode_json(change) + b"\n" for head, change in heads)
    sized = ((line, len(line)) for line in lines)
    return map(b"".join, batches(sized, size=_BULK_BYTES, count=_BULK_LINES))


_KEPT: Json = {"type": "object", "enabled": False}
"""Given back as it is and never looked into, whatever its size."""
_WORD: Json = {"type": "keyword", "ignore_above": 8191}
"""The longest that fits into a term of 32,766 bytes whatever its characters."""
_NUMBER: Json = {"type": "long"}
"""Moments too, in microseconds: a `date` keeps milliseconds, a `date_nanos` nothing before 1970."""
_VERSIONS: Json = {
    "tenant": _WORD,
    "run_id": _WORD,
    "key": {"type": "keyword"},
    "number": _NUMBER,
    "thought_id": _WORD,
    "created_at": _NUMBER,
    "expires_at": _NUMBER,
    "passed": {"type": "boolean"},
    "tags": {"type": "keyword"},
    "text": _KEPT,
    "prompt": _KEPT,
    "drafted": _KEPT,
    # Terms that are made here, with a space between: the server cuts there and changes nothing.
    "text_terms": {"type": "text", "analyzer": "whitespace"},
    "prompt_terms": {"type": "text", "analyzer": "whitespace"},
}


def index_of(alias: str) -> str:
    """The name of the index that is made for an alias."""
    return f"{alias}-1"


async def create_index(connection: HttpConnection, alias: str) -> None:
    """Create the index unless it is there."""
    # A field that a newer release writes is refused instead of guessed at.
    mappings: Json = {"dynamic": "strict", "properties": _VERSIONS}
    body: Json = {"mappings": mappings, "aliases": {alias: {}}}
    answer = await connection.send("PUT", f"/{index_of(alias)}", body)
    if answer.kind != "resource_already_exists_exception":
        answer.checked()
