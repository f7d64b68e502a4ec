"""Vectors that are still to be made, and versions that have expired."""

import logging
from collections.abc import Iterator, Mapping, Sequence

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import StorageError
from sifaka.record.thought import Thought
from sifaka.storage.cursor import now_in_microseconds, to_microseconds
from sifaka.storage.embedding import embed_documents, embedding_failures, meaning
from sifaka.storage.entry_json import decode_version
from sifaka.storage.milvus.client import Row
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.worker import MilvusWorker

logger = logging.getLogger(__name__)
_AT_ONCE = 64
_EXPIRED_AT_ONCE = 64


def look_for_missing(milvus: MilvusConnection, collection: str) -> dict[str, str]:
    """The versions that a collection of vectors lacks, compared once in the life of a process.

    Afterwards every `put` of this process notes the versions that it adds.
    """
    missing = milvus.shared.missing
    if collection not in missing:
        missing[collection] = {}  # what is put meanwhile is noted already
        try:
            versions = milvus.select(milvus.names.thoughts, "chunk == 0", ("tenant",))
            there = {str(row["pk"]) for row in milvus.select(collection, 'tenant != ""', ())}
        except BaseException:
            del missing[collection]
            raise
        keys = {str(row["pk"]).removesuffix(":0"): str(row["tenant"]) for row in versions}
        missing[collection].update({key: keys[key] for key in keys if key not in there})
    return missing[collection].copy()


async def fill_vectors(worker: MilvusWorker, embedder: Embedder) -> int:
    """Make vectors for some versions that have none of this model; how many are left."""
    with embedding_failures():
        dimension = await embedder.dimension()
        collection = await worker.run(lambda m: m.ensure_vectors(embedder.model_id, dimension))
        names = [*await worker.run(lambda m: look_for_missing(m, collection))][:_AT_ONCE]
        rows = await worker.run(lambda m: _rows_of(m, names))
        made = await embed_documents(embedder, [text for _, text in rows])
    vectors = [
        {**row, "vector": list(vector)}
        for (row, _), vector in zip(rows, made, strict=True)
        if vector is not None
    ]

    def keep(milvus: MilvusConnection) -> int:
        milvus.put(collection, vectors)
        missing = milvus.shared.missing[collection]
        for name in names:
            missing.pop(name, None)
        return len(missing)

    return await worker.run(keep)


def sweep(milvus: MilvusConnection) -> int:
    """Remove some of the runs that have expired, and what removed runs have left; how many stay."""
    expired = f"chunk == 0 and expires_at > 0 and expires_at <= {now_in_microseconds()}"
    rows = milvus.select(milvus.names.thoughts, expired, ("run",))
    runs = list(dict.fromkeys(str(row["run"]) for row in rows))
    for key in runs[:_EXPIRED_AT_ONCE]:
        purge(milvus, key)
    while milvus.shared.purged:
        # The server writes its files again without the rows that were removed.
        milvus.compact(milvus.shared.purged.pop())
    return max(0, len(runs) - _EXPIRED_AT_ONCE)


def purge(milvus: MilvusConnection, key: str) -> None:
    """Remove everything of a run; the versions first, so that it is gone whatever happens next."""
    others = [name for name in milvus.list_names() if milvus.names.is_index(name)]
    for name in (milvus.names.thoughts, *others):
        rows = milvus.select(name, f'run == "{key}"', ())
        milvus.remove(name, [str(row["pk"]) for row in rows])
        if rows:
            milvus.shared.purged.add(name)


def _rows_of(
    milvus: MilvusConnection, names: Sequence[str]
) -> list[tuple[Mapping[str, object], str]]:
    """The rows of these versions but for their vectors, with the text to embed of each."""
    found: list[tuple[Mapping[str, object], str]] = []
    for name, row, prompt, thought in readable(milvus.versions(names, strong=True)):
        if text := meaning(prompt, thought.text):
            at = to_microseconds(thought.created_at)
            found.append(({"pk": name, "tenant": row["tenant"], "run": row["run"], "at": at}, text))
    return found


def readable(
    versions: Mapping[str, tuple[Row, str]],
) -> Iterator[tuple[str, Row, str, Thought]]:
    """The versions that can be read: the key, the first row, the task and the thought of each."""
    for key, (row, payload) in versions.items():
        try:
            prompt, drafted = decode_version(row["run_id"], payload)
        except StorageError as damage:
            logger.warning("a version is left out: %s", damage.message)
            continue
        yield key, row, prompt, drafted.thought
