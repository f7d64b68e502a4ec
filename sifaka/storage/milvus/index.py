"""The indexes: collections made of the versions, which can be made again at any time."""

from collections.abc import Mapping, Sequence

from sifaka.record.entries import Drafted
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.folding import bag_of_words, fold
from sifaka.storage.milvus.rows import moment, version_key


def word_rows(
    tenant: str, key: str, prompt: str, versions: Sequence[tuple[int, Drafted]]
) -> list[Mapping[str, object]]:
    """What full-text search finds of some versions of a run; the task counts half."""
    task = fold(prompt)
    rows: list[Mapping[str, object]] = []
    for seq, entry in versions:
        text = fold(entry.thought.text)
        rows.append(
            {
                "pk": version_key(key, seq),
                "tenant": tenant,
                "run": key,
                "at": moment(entry),
                "words": bag_of_words((*text, *text, *task)),
            }
        )
    return rows


def look_for_missing(milvus: MilvusConnection, collection: str) -> None:
    """Compare an index with the versions, once in the life of a process.

    Afterwards every append of this process notes what it adds.
    """
    missing = milvus.shared.missing
    if collection in missing:
        return
    missing[collection] = {}  # what is appended while we look is noted already
    try:
        condition = 'kind == "drafted" and chunk == 0'
        versions = milvus.select(milvus.names.entries, condition, ("tenant",))
        there = {str(row["pk"]) for row in milvus.select(collection, 'tenant != ""', ())}
    except BaseException:
        del missing[collection]
        raise
    keys = {str(row["pk"]).removesuffix(":0"): str(row["tenant"]) for row in versions}
    absent = {key: tenant for key, tenant in keys.items() if key not in there}
    milvus.shared.note_missing(collection, absent)


def note_versions(milvus: MilvusConnection, tenant: str, names: Sequence[str]) -> None:
    """Versions that were just stored have words, and no vectors yet."""
    for collection in list(milvus.shared.missing):
        if collection != milvus.names.words:
            milvus.shared.note_missing(collection, dict.fromkeys(names, tenant))


def parse_version_key(name: str) -> tuple[str, int]:
    """The run's key and the place of the version in it."""
    key, _, seq = name.partition(":")
    return key, int(seq)
