"""The runs that release 0.1 kept in Milvus."""

from collections.abc import Sequence
from hashlib import sha256

from sifaka.errors import StorageError
from sifaka.record.entries import Entry
from sifaka.storage.entry_json import decode_entries
from sifaka.storage.milvus.client import Row, failures
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.rows import tenant_key


def former_rows(milvus: MilvusConnection, tenant: str) -> list[Row]:
    """The row of each run of a tenant; none where there is no such collection."""
    runs, entries = f"{milvus.names.prefix}_runs", f"{milvus.names.prefix}_entries"
    if not {runs, entries} <= set(milvus.list_names()):
        return []
    with failures(milvus.shown):
        milvus.client.load_collection(runs)
        milvus.client.load_collection(entries)
    condition = f'tenant == "{tenant_key(tenant)}" and version > 0'
    rows = milvus.select(runs, condition, ("run_id", "version", "digest", "updated_at"))
    return sorted(rows, key=lambda row: row["updated_at"])


def former_entries(milvus: MilvusConnection, row: Row) -> Sequence[Entry]:
    """The entries of a run, of which nothing is missing."""
    condition = f'run == "{row["pk"]}" and seq <= {row["version"]}'
    found = milvus.select(
        f"{milvus.names.prefix}_entries", condition, ("seq", "chunk", "chunks", "payload")
    )
    parts = {(part["seq"], part["chunk"]): part for part in found}
    payloads: list[str] = []
    digest = ""
    for seq in range(1, row["version"] + 1):
        count = parts[seq, 0]["chunks"] if (seq, 0) in parts else 0
        texts = [parts[seq, n]["payload"] for n in range(count) if (seq, n) in parts]
        payloads.append("".join(texts))
        digest = sha256(digest.encode() + payloads[-1].encode()).hexdigest()
    if digest != row["digest"]:
        raise StorageError(
            f"the entries of run {row['run_id']!r} are not what was stored",
            "the run is damaged; delete its row in the collection of runs to leave it out",
        )
    return tuple(decode_entries(row["run_id"], payloads))
