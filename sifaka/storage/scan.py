"""Search by reading the runs themselves, for logs without an index."""

import logging
from collections.abc import Iterable, Sequence
from contextlib import aclosing

import anyio
from anyio import to_thread

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run, RunSummary
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import query_words, rank, snippet
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
    """The versions in a log that share words with the query; see `search_runs`.

    Args:
        log: Whose runs are read.
        query: The words.
        limit: How many hits at most.
        only: Which versions.
        latest: How many of the newest runs are read; None for all.

    Raises:
        StorageError: The log failed. Runs that cannot be read are left out and logged.
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
    """The versions that share words with the query, by BM25; the task counts half.

    Words are compared without case and accents, and are not stemmed.
    """
    words = query_words(query)
    versions = [(run, t) for run in runs for t in admitted(run, only)] if words else []
    scores = rank(
        words,
        [((t.text, _TEXT_WEIGHT), (run.prompt, _PROMPT_WEIGHT)) for run, t in versions],
    )
    best = sorted(
        (i for i, score in enumerate(scores) if score > 0), key=lambda i: scores[i], reverse=True
    )
    return Hits(
        hits=tuple(_hit(*versions[i], scores[i], words) for i in best[:limit]), search="bm25"
    )


def admitted(run: Run, only: Filters) -> Sequence[Thought]:
    """The versions of a run that a search with these filters looks at."""
    if only.passed is not None and run.passed != only.passed:
        return ()
    if not set(only.tags) <= set(run.tags):
        return ()
    return [
        thought
        for thought in run.thoughts
        if (only.since is None or thought.created_at >= only.since)
        and (only.until is None or thought.created_at < only.until)
    ]


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


def _hit(run: Run, thought: Thought, score: float, words: Sequence[str]) -> Hit:
    return Hit(
        run_id=run.run_id,
        thought_id=thought.id,
        score=score,
        snippet=snippet(words, (thought.text, run.prompt)),
        created_at=thought.created_at,
    )
