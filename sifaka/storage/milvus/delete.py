"""Runs that are deleted or have expired."""

from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.read import newest_row
from sifaka.storage.milvus.rows import RunRow, next_revision, run_key
from sifaka.storage.timestamps import now_in_microseconds

_EXPIRED_AT_ONCE = 64


def delete_run(milvus: MilvusConnection, tenant: str, run_id: str) -> None:
    """Forget a run: its row first, so that it is gone whatever happens next."""
    key = run_key(tenant, run_id)
    with milvus.shared.lock(key):
        row = newest_row(milvus, key, ask=True)
        milvus.remove(milvus.names.runs, [key])
        milvus.shared.remember(
            RunRow(key=key, tenant="", run_id=run_id, revision=next_revision(row))
        )
        purge(milvus, key)


def purge(milvus: MilvusConnection, key: str) -> None:
    """Remove everything that was made of a run but its row."""
    for name in milvus.list_names():
        if name == milvus.names.entries or milvus.names.is_index(name):
            rows = milvus.select(name, f'run == "{key}"', ())
            milvus.remove(name, [str(row["pk"]) for row in rows])


def sweep(milvus: MilvusConnection) -> int:
    """Remove some of the runs that have expired; how many are left."""
    rows = milvus.select(
        milvus.names.runs, f"expires_at > 0 and expires_at <= {now_in_microseconds()}", ("tenant",)
    )
    for row in rows[:_EXPIRED_AT_ONCE]:
        key = str(row["pk"])
        with milvus.shared.lock(key):
            newest = newest_row(milvus, key, ask=True)
            if newest is None or not newest.alive:
                milvus.remove(milvus.names.runs, [key])
                milvus.shared.doubt(key)
                purge(milvus, key)
    return max(0, len(rows) - _EXPIRED_AT_ONCE)
