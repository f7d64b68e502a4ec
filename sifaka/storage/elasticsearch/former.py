"""The runs that release 0.1 kept in Elasticsearch."""

from collections.abc import AsyncGenerator, Sequence

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.entry_json import decode_entries

_AT_ONCE = 50


async def former_runs(documents: Documents, tenant: str) -> AsyncGenerator[Sequence[Entry]]:
    """The entries of each run of a tenant; none where there is no such index.

    Raises:
        StorageError: The server failed, or an entry is missing.
    """
    runs, entries = f"{documents.address.prefix}-runs", f"{documents.address.prefix}-entries"
    if (await documents.send("GET", f"/{runs}")).status == 404:
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
        for hit in hits:
            source = hit["_source"]
            if source.get("expires_at") == 0:  # a deletion that broke off
                continue
            ids = [f"{source['generation']}:{seq}" for seq in range(1, source["version"] + 1)]
            found = await documents.get_many(entries, ids)
            payloads = [place.source["payload"] for place in found if place is not None]
            if len(payloads) < len(ids):
                raise StorageError(
                    f"an entry of run {source['run_id']!r} is missing",
                    "restore the index of entries from a snapshot",
                )
            yield tuple(decode_entries(source["run_id"], payloads))
        if len(hits) < _AT_ONCE:
            return
        request = {**request, "search_after": hits[-1]["sort"]}
