"""Searching versions: candidates from the indexes, checked against what is stored."""

import json
from collections.abc import Callable, Sequence
from itertools import islice

from sifaka.entries import Drafted, Started
from sifaka.storage.bm25 import query_words, shorten, snippet
from sifaka.storage.entry_json import decode_entries, replay_run
from sifaka.storage.milvus.connection import MOST_ROWS, MilvusConnection
from sifaka.storage.milvus.folding import fold
from sifaka.storage.milvus.index import parse_version_key
from sifaka.storage.milvus.rows import RUN_FIELDS, RunRow, tenant_key
from sifaka.storage.milvus.runs import read_entries, read_payloads, rows_of, unexpired
from sifaka.storage.protocol import Filters, Hit, Hits
from sifaka.storage.scanning import search_runs
from sifaka.storage.timestamps import to_microseconds

Ranked = list[tuple[str, float]]
"""Keys of versions with their scores, best first."""
_RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009)."""
_SCANNED_RUNS = 500
_NO_FULL_TEXT = "no full text on this server"


def search_versions(
    milvus: MilvusConnection,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
    semantic: tuple[str, Sequence[float]] | None,
) -> Hits:
    """The best versions for a query.

    Args:
        milvus: The connection.
        tenant: Whose versions.
        query: What to look for.
        limit: How many hits.
        only: What they are among.
        semantic: The collection of a model's vectors, and the query's.
    """
    words = query_words(query)
    if not words:
        return Hits(hits=(), search="bm25")
    if not milvus.full_text and semantic is None:
        return _scan(milvus, tenant, query, limit, only)
    condition = _condition(tenant, only)
    text = " ".join(word for written in words for word in fold(written))
    rankings: list[Callable[[int], Ranked]] = []
    if milvus.full_text:
        rankings.append(
            lambda count: _scoring(
                milvus.nearest(
                    milvus.names.words, text, field="sparse", condition=condition, limit=count
                )
            )
        )
    if semantic is not None:
        collection, vector = semantic
        rankings.append(
            lambda count: milvus.nearest(
                collection, list(vector), field="vector", condition=condition, limit=count
            )
        )
    return Hits(hits=_best(milvus, rankings, words, limit, only), search=_kind(milvus, semantic))


def fuse(rankings: Sequence[Ranked]) -> Ranked:
    """One ranking of several by the sum of 1 / (60 + rank); a single one stays as it is."""
    if len(rankings) == 1:
        return rankings[0]
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, (key, _) in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (_RRF + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _best(
    milvus: MilvusConnection,
    rankings: Sequence[Callable[[int], Ranked]],
    words: Sequence[str],
    limit: int,
    only: Filters,
) -> tuple[Hit, ...]:
    count = min(max(4 * limit, 50), MOST_ROWS)
    while True:
        found = [ranking(count) for ranking in rankings]
        hits = _checked(milvus, fuse(found), words, limit, only)
        if len(hits) >= limit or count == MOST_ROWS or all(len(r) < count for r in found):
            return hits
        count = min(count * 8, MOST_ROWS)


def _checked(
    milvus: MilvusConnection, ranked: Ranked, words: Sequence[str], limit: int, only: Filters
) -> tuple[Hit, ...]:
    """The first candidates that are versions of runs that a search with these filters looks at.

    An index may be behind: of an append that failed, of a run that was deleted or has expired.
    """
    keys = dict.fromkeys(parse_version_key(name)[0] for name, _ in ranked)
    runs = rows_of(milvus, list(keys), strong=True)
    admitted = (
        (run, seq, score)
        for (key, seq), score in ((parse_version_key(name), score) for name, score in ranked)
        if (run := runs.get(key)) and run.alive and seq <= run.version and _admits(run, only)
    )
    hits: list[Hit] = []
    while len(hits) < limit and (some := list(islice(admitted, limit))):
        wanted = {(run.key, n) for run, seq, _ in some for n in (1, seq)}
        entries = read_entries(milvus, wanted, strong=False)
        if len(entries) < len(wanted):  # written just now
            entries = read_entries(milvus, wanted, strong=True)
        for run, seq, score in some:
            started, drafted = (
                next(decode_entries(run.run_id, [entries[run.key, n]], after=n - 1), None)
                if (run.key, n) in entries
                else None
                for n in (1, seq)
            )
            if isinstance(started, Started) and isinstance(drafted, Drafted):
                hits.append(_hit(run, started.prompt, drafted, score, words))
    return tuple(hits[:limit])


def _admits(run: RunRow, only: Filters) -> bool:
    about = json.loads(run.about)
    return (only.passed is None or about["passed"] == only.passed) and set(only.tags) <= set(
        about["tags"]
    )


def _hit(run: RunRow, prompt: str, drafted: Drafted, score: float, words: Sequence[str]) -> Hit:
    thought = drafted.thought
    return Hit(
        run_id=run.run_id,
        thought_id=thought.id,
        score=score,
        snippet=snippet(words, (thought.text, prompt)) or shorten(thought.text[:2000]),
        created_at=thought.created_at,
    )


def _condition(tenant: str, only: Filters) -> str:
    parts = [f'tenant == "{tenant_key(tenant)}"']
    if only.since is not None:
        parts.append(f"at >= {to_microseconds(only.since)}")
    if only.until is not None:
        parts.append(f"at < {to_microseconds(only.until)}")
    return " and ".join(parts)


def _scoring(ranked: Ranked) -> Ranked:
    return [(key, score) for key, score in ranked if score > 0]


def _kind(milvus: MilvusConnection, semantic: tuple[str, Sequence[float]] | None) -> str:
    if semantic is None:
        return "bm25"
    kind, lacks = ("hybrid", []) if milvus.full_text else ("dense", [_NO_FULL_TEXT])
    missing = len(milvus.shared.missing_of(semantic[0]))
    if missing:
        lacks.append(f"{missing} versions have no vector yet")
    return f"{kind} ({', '.join(lacks)})" if lacks else kind


def _scan(milvus: MilvusConnection, tenant: str, query: str, limit: int, only: Filters) -> Hits:
    condition = f'tenant == "{tenant_key(tenant)}" and {unexpired()}'
    found = map(RunRow.of, milvus.select(milvus.names.runs, condition, RUN_FIELDS))
    latest = sorted(found, key=lambda row: row.updated_at, reverse=True)[:_SCANNED_RUNS]
    runs = [replay_run(row.run_id, read_payloads(milvus, row)) for row in latest]
    hits = search_runs(runs, query, limit=limit, only=only)
    kind = f"bm25 over the latest {_SCANNED_RUNS} runs ({_NO_FULL_TEXT})"
    return hits.model_copy(update={"search": kind})
