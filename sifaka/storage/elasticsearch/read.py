"""Reading the entries of a run."""

from collections.abc import Sequence

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.elasticsearch.documents import READ_AT_ONCE, Documents
from sifaka.storage.elasticsearch.records import Held, Record, read_record, run_key
from sifaka.storage.entry_json import replay_run

_ANSWER_BYTES = 8_000_000


async def held_run(documents: Documents, tenant: str, run_id: str) -> Held:
    """The record of a run.

    Raises:
        ThoughtNotFound: The tenant has no such run.
    """
    held = await read_record(documents, run_key(tenant, run_id))
    if held is None or held.record.gone:
        raise ThoughtNotFound(run_id)
    return held


async def read_payloads(documents: Documents, record: Record, *, after: int = 0) -> Sequence[str]:
    """The entries of a run beyond the first so many, as JSON.

    Raises:
        ThoughtNotFound: The run was deleted meanwhile.
        StorageError: One of them is missing.
    """
    ids = record.entry_ids(after, record.version)
    # Of large entries fewer at once: an answer is held in memory here and there.
    at_once = max(1, min(READ_AT_ONCE, _ANSWER_BYTES * record.version // max(1, record.size)))
    found = await documents.get_many(documents.address.entries, ids, at_once=at_once)
    payloads = [place.source["payload"] for place in found if place is not None]
    if len(payloads) == len(ids):
        return payloads
    held = await held_run(documents, record.tenant, record.run_id)
    if held.record.generation != record.generation:
        raise ThoughtNotFound(record.run_id)
    raise StorageError(
        f"entry {after + 1 + found.index(None)} of run {record.run_id!r} is missing",
        "restore the index of entries from a snapshot; other runs are not affected",
    )


async def read_run(documents: Documents, record: Record) -> Run:
    """The run as of its record."""
    return replay_run(record.run_id, await read_payloads(documents, record))
