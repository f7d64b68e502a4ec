"""`python -m benchmarks.relevance [--embedder NAME ...]`: recall, as it is measured here."""

import argparse
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio

from benchmarks.relevance.corpus import corpus
from benchmarks.relevance.measure import Relevance, measure_bm25, measure_dense, measure_hybrid
from sifaka.embeddings import open_embedder


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.relevance", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--embedder",
        action="append",
        default=[],
        metavar="NAME",
        help="such as model2vec:/folder; more than one may be given",
    )
    parser.add_argument("--missed", action="store_true", help="show the queries without a hit")
    options = parser.parse_args()
    anyio.run(_print, options.embedder, options.missed)


async def _print(names: list[str], show_missed: bool) -> None:
    known = corpus()
    print(f"{len(known.texts)} texts, {len(known.queries)} queries in other words\n")
    print(f"{'recall@5':>8} {'MRR':>6}  search")
    async for found in _measured(names):
        print(f"{found.recall:8.3f} {found.reciprocal_rank:6.3f}  {found.search}", flush=True)
        if show_missed:
            print(*(f"{'':17}missed: {query}" for query in found.missed), sep="\n")


async def _measured(names: list[str]) -> AsyncGenerator[Relevance]:
    known = corpus()
    with tempfile.TemporaryDirectory() as folder:
        yield await measure_bm25(known, Path(folder))
        for number, name in enumerate(names):
            embedder = open_embedder(name)
            (place := Path(folder) / str(number)).mkdir()
            yield await measure_hybrid(known, place, embedder)
            yield await measure_dense(known, embedder)


if __name__ == "__main__":
    main()
