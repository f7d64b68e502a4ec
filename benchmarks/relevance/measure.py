"""Searches a store with each query and compares the hits with the relevant texts."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.relevance.corpus import Corpus
from sifaka.embeddings import Embedder
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import SQLiteStorage
from sifaka.storage.embedding import meaning
from sifaka.storage.protocol import ThoughtStore

DEPTH = 10
"""Texts asked for; a relevant one behind them does not count."""
CUT = 5
"""The number of hits that count for recall."""

Find = Callable[[str], Awaitable[Sequence[str]]]
"""The ids of the texts found for a query, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """The scores of one kind of search, from 0 to 1."""

    search: str
    recall: float
    """Relevant texts among the first five, as a share of the relevant ones: mean of the queries."""
    reciprocal_rank: float
    """1 over the rank of the first relevant text, 0 behind the tenth: mean of the queries (MRR)."""
    missed: tuple[str, ...]
    """Queries with no relevant text among the first five."""
    ranks: tuple[int, ...]
    """By query, the rank of the first relevant text; 0 behind the tenth."""


async def measure_bm25(corpus: Corpus, folder: Path) -> Relevance:
    """Search by words alone, in a SQLite store."""
    store = SQLiteStorage(folder / "bm25.db")
    try:
        return await _measure_store(corpus, store, "bm25")
    finally:
        await store.aclose()


async def measure_hybrid(corpus: Corpus, folder: Path, embedder: Embedder) -> Relevance:
    """Search by words and vectors together, in a SQLite store."""
    store = SQLiteStorage(folder / "hybrid.db", embedder=embedder)
    try:
        return await _measure_store(corpus, store, f"hybrid {embedder.model_id}")
    finally:
        await store.aclose()


async def measure_dense(corpus: Corpus, embedder: Embedder) -> Relevance:
    """Search by cosine similarity alone, over all vectors."""
    ids = list(corpus.texts)
    texts = [meaning(corpus.tasks.get(id_, ""), text) for id_, text in corpus.texts.items()]
    vectors = await embedder.embed(texts, role="document")

    async def find(query: str) -> Sequence[str]:
        (asked,) = await embedder.embed([query], role="query")
        scores = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in vectors]
        best = sorted(range(len(ids)), key=scores.__getitem__, reverse=True)
        return [ids[i] for i in best[:DEPTH]]

    return await _measure(corpus, find, f"dense {embedder.model_id}")


async def _measure_store(corpus: Corpus, store: ThoughtStore, search: str) -> Relevance:
    ids: dict[str, str] = {}
    for id_, text in corpus.texts.items():
        started = Started()
        run = Run.start(started)
        thought = Thought(run_id=run.run_id, prompt=corpus.tasks.get(id_, ""), text=text)
        drafted = Drafted(thought=thought)
        await store.append(run.apply(drafted), (started, drafted), expected_version=0)
        ids[run.run_id] = id_
    left = await store.catch_up()
    while left:
        before, left = left, await store.catch_up()
        assert left < before, "the store makes no headway with its vectors"

    async def find(query: str) -> Sequence[str]:
        found = await store.search(query, limit=DEPTH)
        assert found.search == search.partition(" ")[0], found.search
        return [ids[hit.run_id] for hit in found.hits]

    return await _measure(corpus, find, search)


async def _measure(corpus: Corpus, find: Find, search: str) -> Relevance:
    recalls: list[float] = []
    ranks: list[int] = []
    missed: list[str] = []
    for query in corpus.queries:
        found = await find(query.text)
        recalls.append(len(query.relevant & set(found[:CUT])) / len(query.relevant))
        ranks.append(next((n for n, id_ in enumerate(found, 1) if id_ in query.relevant), 0))
        if not recalls[-1]:
            missed.append(query.text)
    count = len(corpus.queries)
    return Relevance(
        search=search,
        recall=sum(recalls) / count,
        reciprocal_rank=sum(1 / rank for rank in ranks if rank) / count,
        missed=tuple(missed),
        ranks=tuple(ranks),
    )
