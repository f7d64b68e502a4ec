"""Searching runs that are at hand, for stores without an index."""

from collections.abc import Iterable, Sequence

from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import query_words, rank, snippet
from sifaka.storage.protocol import Filters, Hit, Hits

_TEXT_WEIGHT = 1.0
_PROMPT_WEIGHT = 0.5


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


def _hit(run: Run, thought: Thought, score: float, words: Sequence[str]) -> Hit:
    return Hit(
        run_id=run.run_id,
        thought_id=thought.id,
        score=score,
        snippet=snippet(words, (thought.text, run.prompt)),
        created_at=thought.created_at,
    )
