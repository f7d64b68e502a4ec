"""The runs that release 0.1 kept in Elasticsearch."""

from collections.abc import AsyncGenerator, Sequence
from typing import cast

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.entry_json import decode_entries

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
