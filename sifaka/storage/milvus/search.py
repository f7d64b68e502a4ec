"""Searching versions: candidates from the indexes, checked against what is stored."""

import logging
from dataclasses import dataclass

from sifaka.embeddings.protocol import Vector
from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.bm25 import query_words
from sifaka.storage.entry_json import replay_run
from sifaka.storage.fusion import fuse, fused_depth, hybrid_name
from sifaka.storage.milvus.candidates import Candidate, rank, show
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.folding import fold
from sifaka.storage.milvus.index import look_for_missing
from sifaka.storage.milvus.read import read_payloads, unexpired
from sifaka.storage.milvus.rows import RUN_FIELDS, RunRow, tenant_key
from sifaka.storage.protocol import Filters, Hits
from sifaka.storage.scan import search_runs
from sifaka.storage.timestamps import to_microseconds

logger = logging.getLogger(__name__)
_NO_FULL_TEXT = "no full text on this server"
_SCANNED_RUNS = 500
_UNRELATED = 0.0003
"""A cosine a hair above that of vectors at right angles, which have nothing in common."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The meaning of a query."""

    collection: str
    """Where the vectors of the model are."""
    vector: Vector


def search_versions(
    milvus: MilvusConnection,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
    meant: Meant | None,
) -> Hits:
    """The best versions for a query; of two rankings, by words and by meaning, one is made."""
    words = query_words(query)
    if not words or limit < 1:
        return Hits(hits=(), search="bm25")
    if not milvus.full_text and meant is None:
        return _scan(milvus, tenant, query, limit, only)
    condition = _condition(tenant, only)
    depth = limit if meant is None else fused_depth(limit)
    rankings: list[list[Candidate]] = []
    if meant is not None:
        name, vector = meant.collection, list(meant.vector)
        look_for_missing(milvus, name)

        def by_meaning(count: int) -> list[tuple[str, float]]:
            found = milvus.nearest(name, vector, field="vector", condition=condition, limit=count)
            return [(key, score) for key, score in found if score > _UNRELATED]

        rankings.append(rank(milvus, by_meaning, depth, only))
    if milvus.full_text:
        text = " ".join(word for written in words for word in fold(written))

        def by_words(count: int) -> list[tuple[str, float]]:
            return milvus.nearest(
                milvus.names.words, text, field="sparse", condition=condition, limit=count
            )

        rankings.append(rank(milvus, by_words, depth, only))
    if len(rankings) == 1:
        best = [(candidate, candidate.score) for candidate in rankings[0]]
    else:
        candidates = {each.name: each for ranking in rankings for each in ranking}
        fused = fuse(*([each.name for each in ranking] for ranking in rankings))
        best = [(candidates[name], score) for name, score in fused]
    return Hits(hits=show(milvus, best, words, limit), search=_kind(milvus, tenant, meant))


def _condition(tenant: str, only: Filters) -> str:
    parts = [f'tenant == "{tenant_key(tenant)}"']
    if only.since is not None:
        parts.append(f"at >= {to_microseconds(only.since)}")
    if only.until is not None:
        parts.append(f"at < {to_microseconds(only.until)}")
    return " and ".join(parts)


def _kind(milvus: MilvusConnection, tenant: str, meant: Meant | None) -> str:
    if meant is None:
        return "bm25"
    name = hybrid_name(milvus.shared.count_missing(meant.collection, tenant_key(tenant)))
    if milvus.full_text:
        return name
    return f"{name.replace('hybrid', 'dense', 1)} ({_NO_FULL_TEXT})"


def _scan(milvus: MilvusConnection, tenant: str, query: str, limit: int, only: Filters) -> Hits:
    condition = f'tenant == "{tenant_key(tenant)}" and {unexpired()}'
    found = map(RunRow.of, milvus.select(milvus.names.runs, condition, RUN_FIELDS))
    latest = sorted(found, key=lambda row: row.updated_at, reverse=True)[:_SCANNED_RUNS]
    runs = [run for row in latest if (run := _replayed(milvus, row)) is not None]
    hits = search_runs(runs, query, limit=limit, only=only)
    kind = f"bm25 over the latest {_SCANNED_RUNS} runs ({_NO_FULL_TEXT})"
    return hits.model_copy(update={"search": kind})


def _replayed(milvus: MilvusConnection, row: RunRow) -> Run | None:
    try:
        return replay_run(row.run_id, read_payloads(milvus, row))
    except StorageError as error:
        if error.retryable:
            raise
        logger.warning("a search leaves out what it cannot read: %s", error.message)
        return None
