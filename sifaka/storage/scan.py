"""Search by reading the runs themselves, for logs without an index."""

import logging
from collections.abc import Iterable, Sequence
from contextlib import aclosing

import anyio
from anyio import to_thread

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run, RunSummary
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import query_words, rank, shorten, snippet
from sifaka.storage.index import Filters, Hit, Hits
from sifaka.storage.log import RunLog, every_run

logger = logging.getLogger(__name__)
_AT_ONCE = 16
"""Runs that are read at the same time."""

_TEXT_WEIGHT = 1.0
_PROMPT_WEIGHT = 0.5


async def scan_log(
    log: RunLog, query: str, *, limit: int, only: Filters, latest: int | None
) -> Hits:
    """The versions in a log, or in its latest runs, that share words with the query.

    Runs that cannot be read are left out and logged; see `best_hits`.
    """
    if not query_words(query):
        return Hits(hits=(), search="bm25")
    runs: list[Run] = []
    wanted: list[str] = []
    seen = 0
    more = ""
    async with aclosing(every_run(log)) as lines:
        async for line in lines:
            if seen == latest:
                more = f" (the latest {latest} runs)"
                break
            seen += 1
            if _may_hold(line, only):
                wanted.append(line.run_id)
    for begin in range(0, len(wanted), _AT_ONCE):
        runs += await _load(log, wanted[begin : begin + _AT_ONCE])
    # In a thread: reading through many long texts takes a while.
    hits = await to_thread.run_sync(lambda: search_runs(runs, query, limit=limit, only=only))
    return hits.model_copy(update={"search": hits.search + more})


def search_runs(runs: Iterable[Run], query: str, *, limit: int, only: Filters) -> Hits:
    """The versions that share words with the query, by BM25; see `best_hits`."""
    words = query_words(query)
    versions = [
        (run.run_id, run.prompt, thought)
        for run in runs
        if words and only.admit_run(passed=run.passed, tags=run.tags)
        for thought in run.thoughts
        if only.admit_time(thought.created_at)
    ]
    return Hits(hits=best_hits(words, versions, limit), search="bm25")


def best_hits(
    words: Sequence[str], versions: Sequence[tuple[str, str, Thought]], limit: int
) -> tuple[Hit, ...]:
    """The versions that have any of the words, best first; the task counts half.

    Words are compared without case and accents, and are not stemmed.

    Args:
        words: From `query_words`.
        versions: Each with the id of its run and its task before it.
        limit: The most hits.
    """
    scores = rank(
        words, [((t.text, _TEXT_WEIGHT), (prompt, _PROMPT_WEIGHT)) for _, prompt, t in versions]
    )
    best = sorted(zip(versions, scores, strict=True), key=lambda each: each[1], reverse=True)
    return tuple(hit_of(*version, score, words) for version, score in best[:limit] if score > 0)


def hit_of(run_id: str, prompt: str, thought: Thought, score: float, words: Sequence[str]) -> Hit:
    """A version as a hit; without a match its snippet is the beginning of the text."""
    return Hit(
        run_id=run_id,
        thought_id=thought.id,
        score=score,
        snippet=snippet(words, (thought.text, prompt)) or shorten(thought.text[:2000]),
        created_at=thought.created_at,
    )


async def _load(log: RunLog, run_ids: Sequence[str]) -> list[Run]:
    found: dict[str, Run | StorageError] = {}

    async def read(run_id: str) -> None:
        try:
            found[run_id] = await log.load(run_id)
        except ThoughtNotFound:
            pass  # it was deleted since the list was read
        except StorageError as error:
            found[run_id] = error

    async with anyio.create_task_group() as group:
        for run_id in run_ids:
            group.start_soon(read, run_id)
    runs: list[Run] = []
    for run_id in run_ids:
        match found.get(run_id):
            case Run() as run:
                runs.append(run)
            case StorageError() as error:
                if error.retryable:
                    raise error
                logger.warning("%s; the run is left out of a search", error.message)
            case None:
                pass
    return runs


def _may_hold(line: RunSummary, only: Filters) -> bool:
    # It only saves reading a run for nothing: the filters look at each version once it is read.
    return (only.passed is None or line.passed == only.passed) and (
        only.since is None or line.updated_at >= only.since
    )
