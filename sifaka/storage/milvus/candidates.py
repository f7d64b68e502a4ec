"""What an index finds, held against what is stored."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.storage.bm25 import shorten, snippet
from sifaka.storage.entry_json import decode_entries
from sifaka.storage.milvus.connection import MOST_ROWS, MilvusConnection
from sifaka.storage.milvus.index import parse_version_key
from sifaka.storage.milvus.read import read_entries, rows_of
from sifaka.storage.milvus.rows import RunRow
from sifaka.storage.protocol import Filters, Hit

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that an index has found, of a run that is there."""

    name: str
    run: RunRow
    seq: int
    score: float


def rank(
    milvus: MilvusConnection,
    nearest: Callable[[int], list[tuple[str, float]]],
    depth: int,
    only: Filters,
) -> list[Candidate]:
    """The first so many of a ranking that are of runs that a search with these filters looks at.

    An index may be behind: of an append that failed, of a run that was deleted or has expired. And
    whether a run passes, and its tags, are known of the run alone.
    """
    count = min(max(4 * depth, 50), MOST_ROWS)
    while True:
        found = nearest(count)
        places = [(name, *parse_version_key(name), score) for name, score in found if score > 0]
        runs = rows_of(milvus, list({key: None for _, key, _, _ in places}), strong=True)
        admitted = [
            Candidate(name, run, seq, score)
            for name, key, seq, score in places
            if (run := runs.get(key)) and run.alive and seq <= run.version and _admits(run, only)
        ]
        if len(admitted) >= depth or count == MOST_ROWS or len(found) < count:
            return admitted[:depth]
        count = min(count * 8, MOST_ROWS)


def show(
    milvus: MilvusConnection,
    best: Sequence[tuple[Candidate, float]],
    words: Sequence[str],
    limit: int,
) -> tuple[Hit, ...]:
    """The hits with what is stored; an append that failed may have left another version there."""
    hits: list[Hit] = []
    for begin in range(0, len(best), limit):
        some = best[begin : begin + limit]
        wanted = {(each.run.key, seq) for each, _ in some for seq in (1, each.seq)}
        entries = read_entries(milvus, wanted, strong=False)
        if len(entries) < len(wanted):  # written just now
            entries = read_entries(milvus, wanted, strong=True)
        for each, score in some:
            started = _decoded(entries, each.run, 1)
            drafted = _decoded(entries, each.run, each.seq)
            if isinstance(started, Started) and isinstance(drafted, Drafted):
                hits.append(_hit(each.run, started.prompt, drafted, score, words))
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])


def _decoded(entries: Mapping[tuple[str, int], str], run: RunRow, seq: int) -> Entry | None:
    if (run.key, seq) not in entries:
        return None
    try:
        return next(decode_entries(run.run_id, [entries[run.key, seq]], after=seq - 1))
    except StorageError as damage:
        logger.warning("a version is left out of a search: %s", damage.message)
        return None


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
