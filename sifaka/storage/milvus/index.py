"""The indexes: collections made of the versions, which can be made again at any time."""

from collections.abc import Mapping, Sequence

from sifaka.entries import Drafted
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
    shared = milvus.shared
    if collection in shared.missing:
        return
    shared.missing[collection] = {}
    try:
        rows = milvus.select(milvus.names.entries, 'kind == "drafted" and chunk == 0', ())
        there = {
            str(row["pk"]) for row in milvus.select(collection, "at > -9223372036854775807", ())
        }
    except BaseException:
        del shared.missing[collection]
        raise
    keys = [str(row["pk"]).removesuffix(":0") for row in rows]
    absent = [key for key in keys if key not in there]
    shared.missing[collection].update(dict.fromkeys(absent))


def parse_version_key(name: str) -> tuple[str, int]:
    """The run's key and the place of the version in it."""
    key, _, seq = name.partition(":")
    return key, int(seq)
