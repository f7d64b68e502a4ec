from pathlib import Path
from time import monotonic

from sifaka.storage.milvus import MilvusStorage
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.rows import chunk_key, run_key


def make(folder: Path) -> MilvusStorage:
    return MilvusStorage(f"milvus:///{folder}.db")


def make_expiring(folder: Path, seconds: float) -> MilvusStorage:
    return MilvusStorage(f"milvus:///{folder}.db", ttl=seconds)


async def damage(store: MilvusStorage, run_id: str) -> None:
    def spoil(milvus: MilvusConnection) -> None:
        names, key = milvus.names, run_key(store.tenant, run_id)
        fields = ("tenant", "run", "seq", "chunk", "chunks", "kind", "unused")
        rows = milvus.get(names.entries, [chunk_key(key, 2, 0)], fields, strong=True)
        milvus.put(names.entries, [{**row, "payload": "no JSON"} for row in rows.values()])
        # Until everybody sees it, which a server takes a moment for.
        end = monotonic() + 30
        shown = ""
        while shown != "no JSON" and monotonic() < end:
            found = milvus.get(names.entries, list(rows), ("payload",), strong=False)
            shown = found[next(iter(rows))]["payload"]

    await store._worker.run(spoil)  # pyright: ignore[reportPrivateUsage]
