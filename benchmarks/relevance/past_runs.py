"""`python -m benchmarks.relevance.past_runs`: recall in nine languages, by words and by meaning.

Mails, release notes, reports and notices as people write them, one run each, and two queries for a
run: one of its words, and one in other words. Another model is named with `--embedder NAME`.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import anyio

from benchmarks.relevance.corpus import Corpus, Query
from benchmarks.relevance.measure import CUT, measure_bm25, measure_dense, measure_hybrid
from benchmarks.report import machine
from sifaka.embeddings import open_embedder
from sifaka.embeddings.protocol import PACKAGED

_FILE = Path(__file__).with_suffix(".jsonl")
ASKED = ("words", "paraphrase")
"""The kinds of queries."""
Ranks = Mapping[str, Sequence[int]]
"""By kind of search, the rank of the wanted run for each query; 0 behind the tenth."""


def past_runs() -> list[dict[str, str]]:
    """The runs with their queries: language, task, text, and a query of each kind."""
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


async def measure(name: str) -> Ranks:
    """Search one store with all runs by each kind of search; the ranks of `queries_of`."""
    runs = {str(number): run for number, run in enumerate(past_runs())}
    known = Corpus(
        texts={id_: run["text"] for id_, run in runs.items()},
        tasks={id_: run["task"] for id_, run in runs.items()},
        queries=tuple(
            Query(text=run[kind], relevant=frozenset({id_}))
            for kind in ASKED
            for id_, run in runs.items()
        ),
    )
    embedder = open_embedder(name)
    with tempfile.TemporaryDirectory() as folder:
        return {
            "bm25": (await measure_bm25(known, Path(folder))).ranks,
            "hybrid": (await measure_hybrid(known, Path(folder), embedder)).ranks,
            "dense": (await measure_dense(known, embedder)).ranks,
        }


def table(ranks: Ranks) -> Iterator[str]:
    """The lines of a table: recall@1 and recall@5 by language, and over all."""
    languages = [run["language"] for run in past_runs()]
    columns = [*dict.fromkeys(languages), "all"]
    yield f"| Query | Search | {' | '.join(columns)} |"
    yield f"|---|---|{'---:|' * len(columns)}"
    for number, kind in enumerate(ASKED):
        for search, all_ranks in ranks.items():
            mine = all_ranks[number * len(languages) : (number + 1) * len(languages)]
            by_column = [
                [rank for rank, own in zip(mine, languages, strict=True) if column in {own, "all"}]
                for column in columns
            ]
            cells = (f"{_recall(some, 1)} {_recall(some, CUT)}" for some in by_column)
            yield f"| {kind} | {search} | {' | '.join(cells)} |"


def _recall(ranks: Sequence[int], cut: int) -> str:
    return f"{sum(0 < rank <= cut for rank in ranks) / len(ranks):.2f}".removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.relevance.past_runs", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--embedder", default=PACKAGED, metavar="NAME")
    name = parser.parse_args().embedder
    print("; ".join(f"{what} {value}" for what, value in machine().items()))
    print(
        f"{len(past_runs())} runs in one SQLite store, as many queries of each kind, each with one "
        f"run that is wanted; {open_embedder(name).model_id}. A cell is recall@1 and recall@{CUT}: "
        "the shares of queries whose run is the first hit, and among the first five. bm25 and "
        "hybrid are `search` of the store, dense is cosine similarity over all vectors.\n"
    )
    print(*table(anyio.run(measure, name)), sep="\n")


if __name__ == "__main__":
    main()
