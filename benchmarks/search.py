"""The time to find versions among 10,000, by words and by words and vectors."""

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from benchmarks.random_projection import RandomProjection
from benchmarks.report import Figure, Report
from benchmarks.samples import percentile
from benchmarks.stored_runs import Append, at_once, new_run
from sifaka.storage import SQLiteStorage
from sifaka.storage.milvus import MilvusStorage
from sifaka.storage.protocol import ThoughtStore

RUNS, VERSIONS = 1_000, 10
WORDS_OF_A_TEXT, WORDS_OF_A_QUERY = 100, 4
QUERIES = 40
LIMIT = 10
_WORDS = [f"word{number}" for number in range(20_000)]
_SHARES = list(accumulate(1 / (rank + 10) for rank in range(len(_WORDS))))
"""Words are about as frequent as in English: the nth in proportion to 1 / n (Zipf)."""


def measure() -> Report:
    """`append`, `catch_up` and `search` of the stores that have an index."""
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_measure, Path(folder))


async def _measure(folder: Path) -> Report:
    chance = random.Random(1)  # noqa: S311 - no secret
    runs = [_run(chance) for _ in range(RUNS)]
    queries = [_words(chance, WORDS_OF_A_QUERY) for _ in range(QUERIES)]
    figures: list[Figure] = []
    with_vectors: Mapping[str, Callable[[RandomProjection | None], ThoughtStore]] = {
        "SQLite": lambda embedder: SQLiteStorage(folder / "runs.db", embedder=embedder),
        "Milvus Lite": lambda embedder: MilvusStorage(
            f"milvus:///{folder}/milvus", embedder=embedder
        ),
    }
    for name, opened in with_vectors.items():
        words = opened(None)
        figures.append(_seconds(f"{name}: append", await _append(words, runs)))
        figures.append(_seconds(f"{name}: words", await _catch_up(words)))
        figures += await _searched(f"{name}, words (BM25)", words, queries, "bm25")
        await words.aclose()
        both = opened(RandomProjection())
        figures.append(_seconds(f"{name}: vectors", await _catch_up(both)))
        figures += await _searched(f"{name}, words and vectors", both, queries, "hybrid")
        await both.aclose()
    return Report(
        title=f"search: among {RUNS * VERSIONS:,} versions",
        method=f"{RUNS:,} runs of {VERSIONS} versions of {WORDS_OF_A_TEXT} words, each run in one "
        f"append; {len(_WORDS):,} invented words, as frequent as Zipf's law has it. {QUERIES} "
        f"queries of {WORDS_OF_A_QUERY} such words, {LIMIT} hits each, the first query left out. "
        "Then the same files with vectors of 384 numbers, made by random projection of the words: "
        "no model, so that only the search is timed. `words` and `vectors` are the time that the "
        "store takes after the appends until all have theirs.",
        figures=tuple(figures),
    )


async def _append(store: ThoughtStore, runs: Sequence[Append]) -> float:
    started = perf_counter()
    for run in runs:
        await store.append(run.run, run.entries, expected_version=0)
    return perf_counter() - started


async def _catch_up(store: ThoughtStore) -> float:
    started = perf_counter()
    while await store.catch_up():
        pass
    return perf_counter() - started


async def _searched(
    what: str, store: ThoughtStore, queries: Sequence[str], search: str
) -> list[Figure]:
    taken: list[float] = []
    for query in queries:
        started = perf_counter()
        found = await store.search(query, limit=LIMIT)
        taken.append(perf_counter() - started)
        assert found.search == search, found.search
        assert len(found.hits) == LIMIT, f"{query!r} finds {len(found.hits)}"
    return [
        Figure(what=f"{what}, p50", value=median(taken[1:]) * 1000, unit="ms"),
        Figure(what=f"{what}, p95", value=percentile(taken[1:], 95) * 1000, unit="ms"),
    ]


def _run(chance: random.Random) -> Append:
    texts = [_words(chance, WORDS_OF_A_TEXT) for _ in range(VERSIONS)]
    return at_once(new_run(texts, prompt="Say it shorter."))


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_WORDS, cum_weights=_SHARES, k=count))


def _seconds(what: str, value: float) -> Figure:
    return Figure(what=what, value=value, unit="s")
