"""Filling the indexes with what they lack, some versions at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.record.entries import Drafted, Started
from sifaka.storage.embedding import embed_documents, embedding_failures, meaning
from sifaka.storage.entry_json import decode_entries
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.index import look_for_missing, parse_version_key, word_rows
from sifaka.storage.milvus.read import read_entries, rows_of
from sifaka.storage.milvus.rows import moment, version_key
from sifaka.storage.milvus.worker import MilvusWorker

_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    key: str
    seq: int
    tenant: str
    prompt: str
    drafted: Drafted

    @property
    def name(self) -> str:
        return version_key(self.key, self.seq)

    @property
    def meaning(self) -> str:
        return meaning(self.prompt, self.drafted.thought.text)


def fill_words(milvus: MilvusConnection) -> int:
    """Index some versions that were stored when the server had no full text; how many are left."""
    if not milvus.full_text:
        return 0
    collection = milvus.names.words
    look_for_missing(milvus, collection)
    names = milvus.shared.missing_of(collection)[:_AT_ONCE]
    for version in _read(milvus, names):
        rows = word_rows(
            version.tenant, version.key, version.prompt, [(version.seq, version.drafted)]
        )
        milvus.put(collection, rows)
    milvus.shared.settle(collection, names)
    return len(milvus.shared.missing_of(collection))


async def fill_vectors(worker: MilvusWorker, embedder: Embedder) -> int:
    """Make vectors for some versions that have none of this model; how many are left.

    Raises:
        StorageError: The model or the server failed.
        ConfigurationError: The model makes vectors of another dimension than it did.
    """
    with embedding_failures():
        dimension = await embedder.dimension()
        collection = await worker.run(lambda m: m.ensure_vectors(embedder.model_id, dimension))
        await worker.run(lambda m: look_for_missing(m, collection))
        names = worker.shared.missing_of(collection)[:_AT_ONCE]
        versions = [
            version for version in await worker.run(lambda m: _read(m, names)) if version.meaning
        ]
        made = await embed_documents(embedder, [version.meaning for version in versions])
    pairs = [(v, vector) for v, vector in zip(versions, made, strict=True) if vector is not None]
    await worker.run(lambda m: _store(m, collection, pairs))
    worker.shared.settle(collection, names)
    return len(worker.shared.missing_of(collection))


def _read(milvus: MilvusConnection, names: Sequence[str]) -> list[_Version]:
    """The versions of these keys, of runs that are still there."""
    places = [parse_version_key(name) for name in names]
    runs = rows_of(milvus, list(dict.fromkeys(key for key, _ in places)), strong=True)
    begun = [(key, 1) for key in runs]
    entries = read_entries(milvus, (*begun, *places), strong=True)
    versions: list[_Version] = []
    for key, seq in places:
        if key not in runs or (key, seq) not in entries or (key, 1) not in entries:
            continue
        (started,) = decode_entries(runs[key].run_id, [entries[key, 1]])
        (drafted,) = decode_entries(runs[key].run_id, [entries[key, seq]], after=seq - 1)
        if isinstance(started, Started) and isinstance(drafted, Drafted):
            versions.append(
                _Version(
                    key=key,
                    seq=seq,
                    tenant=runs[key].tenant,
                    prompt=started.prompt,
                    drafted=drafted,
                )
            )
    return versions


def _store(
    milvus: MilvusConnection, collection: str, embedded: Sequence[tuple[_Version, Vector]]
) -> None:
    rows = [
        {
            "pk": version.name,
            "tenant": version.tenant,
            "run": version.key,
            "at": moment(version.drafted),
            "vector": list(vector),
        }
        for version, vector in embedded
    ]
    milvus.put(collection, rows)
