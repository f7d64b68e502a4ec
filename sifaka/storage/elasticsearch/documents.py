"""The documents of the index: their layout, how they are written, and those of release 0.1.

https://www.elastic.co/docs/api/doc/elasticsearch/group/endpoint-document
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import cast

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.storage.elasticsearch.connection import Answer, HttpConnection, Json, encode_json
from sifaka.storage.entry_json import decode_entries

_BULK_BYTES = 8_000_000
"""Well below the 100 MB that a server takes by default."""


class Documents:
    """Reads and writes documents; reads by id see every write at once, searches after a refresh.

    Documents are created through the alias only: a server would otherwise make an index that was
    lost anew, and guess its layout.
    """

    def __init__(self, connection: HttpConnection) -> None:
        self.connection = connection
        self.address = connection.address
        self.ready = False
        """True once the index is known to be there."""

    async def update(
        self, changes: Mapping[str, Json], *, tolerated: frozenset[int] = frozenset()
    ) -> None:
        """Carry out updates of documents, by id, in order, not all or none.

        Raises:
            StorageError: One failed with a status that is not `tolerated`, after all were tried.
        """
        path = f"/{self.address.versions}/_bulk"
        for body in _bodies(changes.items()):
            answer = await self.connection.send("POST", path, body, require_alias="true")
            for item in cast("list[dict[str, Json]]", answer.checked()["items"]):
                (result,) = item.values()
                if result["status"] >= 300 and result["status"] not in tolerated:
                    raise Answer(result["status"], result, answer.where).failure()

    async def refresh(self, index: str) -> None:
        """Make every write so far visible to searches.

        Done before a search instead of after each write: there are fewer of them, nothing is done
        where nothing was written, and every search sees every write.
        """
        (await self.connection.send("POST", f"/{index}/_refresh")).checked()

    async def search(self, index: str, body: Json) -> Json:
        """The `hits` object of a search."""
        answer = await self.connection.send("POST", f"/{index}/_search", body)
        return cast("Json", answer.checked()["hits"])

    async def delete_matching(self, query: Json) -> None:
        """Remove every version that a query matches."""
        index = self.address.versions
        await self.refresh(index)
        path = f"/{index}/_delete_by_query"
        answer = await self.connection.send("POST", path, {"query": query}, conflicts="proceed")
        answer.checked()


def _bodies(changes: Iterable[tuple[str, Json]]) -> Iterable[bytes]:
    lines: list[bytes] = []
    size = 0
    for doc_id, change in changes:
        head: Json = {"update": {"_id": doc_id, "retry_on_conflict": 3}}
        encoded = encode_json(head) + b"\n" + encode_json(change) + b"\n"
        if lines and size + len(encoded) > _BULK_BYTES:
            yield b"".join(lines)
            lines, size = [], 0
        lines.append(encoded)
        size += len(encoded)
    if lines:
        yield b"".join(lines)


_KEPT: Json = {"type": "object", "enabled": False}
"""Given back as it is and never looked into, whatever its size."""
_WORD: Json = {"type": "keyword", "ignore_above": 8191}
"""The longest that fits into a term of 32,766 bytes whatever its characters."""
_NUMBER: Json = {"type": "long"}
"""Moments too, in microseconds: a `date` keeps milliseconds, a `date_nanos` nothing before 1970."""
_TEXT: Json = {"type": "text", "analyzer": "prose"}
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
    "text": _TEXT,
    "prompt": _TEXT,
    "excerpt": _KEPT,
    "drafted": _KEPT,
}
_SEARCHING: Json = {
    "analysis": {
        # The standard tokenizer would keep `3.14` whole, which a query for `14` could not find.
        "char_filter": {
            "only_words": {
                "type": "pattern_replace",
                "pattern": "[^\\p{L}\\p{M}\\p{N}]",
                "replacement": " ",
            }
        },
        "filter": {"plurals": {"type": "stemmer", "language": "minimal_english"}},
        "analyzer": {
            "prose": {
                "type": "custom",
                "char_filter": ["only_words"],
                "tokenizer": "standard",
                "filter": ["lowercase", "asciifolding", "plurals"],
            }
        },
    },
    # By default a text of more than a million characters makes the whole search fail.
    "index.highlight.max_analyzed_offset": 100_000_000,
}


def index_of(alias: str) -> str:
    """The name of the index that is made for an alias."""
    return f"{alias}-1"


async def create_index(connection: HttpConnection) -> None:
    """Create the index unless it is there; one that is stays as it is."""
    alias = connection.address.versions
    # A field that a newer release writes is refused instead of guessed at.
    mappings: Json = {"dynamic": "strict", "properties": _VERSIONS}
    body: Json = {"settings": _SEARCHING, "mappings": mappings, "aliases": {alias: {}}}
    answer = await connection.send("PUT", f"/{index_of(alias)}", body)
    if answer.kind != "resource_already_exists_exception":
        answer.checked()


_AT_ONCE = 50
_ENTRIES_AT_ONCE = 200


async def former_runs(documents: Documents, tenant: str) -> AsyncGenerator[Sequence[Entry]]:
    """The entries of each run of a tenant; none where there is no such index."""
    runs = f"{documents.address.prefix}-runs"
    if (await documents.connection.send("GET", f"/{runs}")).status == 404:
        return
    await documents.refresh(runs)
    request: Json = {
        "query": {"bool": {"filter": [{"term": {"tenant": tenant}}]}},
        "sort": [{"updated_at": "asc"}, {"key": "asc"}],
        "size": _AT_ONCE,
        "_source": ["run_id", "generation", "version", "expires_at"],
    }
    while True:
        hits = (await documents.search(runs, request))["hits"]
        for source in (hit["_source"] for hit in hits):
            if source.get("expires_at") != 0:  # a deletion that broke off
                payloads = await _payloads(documents, source)
                yield tuple(decode_entries(source["run_id"], payloads))
        if len(hits) < _AT_ONCE:
            return
        request = {**request, "search_after": hits[-1]["sort"]}


async def _payloads(documents: Documents, run: Json) -> Sequence[str]:
    ids = [f"{run['generation']}:{seq}" for seq in range(1, run["version"] + 1)]
    path = f"/{documents.address.prefix}-entries/_mget"
    payloads: list[str] = []
    for begin in range(0, len(ids), _ENTRIES_AT_ONCE):
        chunk = ids[begin : begin + _ENTRIES_AT_ONCE]
        answer = await documents.connection.send("POST", path, {"ids": chunk})
        found = cast("list[Json]", answer.checked()["docs"])
        payloads += [item["_source"]["payload"] for item in found if item.get("found")]
    if len(payloads) < len(ids):
        raise StorageError(
            f"an entry of run {run['run_id']!r} is missing",
            "restore the index of entries from a snapshot",
        )
    return payloads
