"""Removing a run with everything that was made of it."""

from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.elasticsearch.records import Held, read_record
from sifaka.storage.timestamps import now_in_microseconds

_AT_ONCE = 20


async def delete_run(documents: Documents, key: str) -> None:
    """Forget a run; one that is unknown is forgotten.

    From the first write on nobody sees it; should the rest fail, the next sweep goes on with it.
    """
    while held := await read_record(documents, key):
        if not held.record.gone:
            marked = await held.replaced(documents, held.record.deleted())
            if marked is None:
                continue
            held = marked
        await forget(documents, held)


async def forget(documents: Documents, held: Held) -> None:
    """Remove what a run that is gone has left; its record last, for it says what else there is."""
    address = documents.address
    made_of_it = {"term": {"generation": held.record.generation}}
    await documents.delete_matching(made_of_it, address.entries, address.thoughts)
    await documents.delete(address.runs, held.record.key, held.document)


async def sweep(documents: Documents) -> int:
    """Forget some of the runs that are gone; about how many are left."""
    hits = await documents.search(
        documents.address.runs,
        {
            "query": {"range": {"expires_at": {"lte": now_in_microseconds()}}},
            "size": _AT_ONCE,
            "_source": False,
            "track_total_hits": True,
        },
    )
    for hit in hits["hits"]:
        held = await read_record(documents, hit["_id"])
        if held is not None and held.record.gone:
            await forget(documents, held)
    return hits["total"]["value"] - len(hits["hits"])
