"""`python -m benchmarks.relevance [--embedder NAME ...]`: recall, as it is measured here."""

import argparse
import tempfile
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import anyio

from benchmarks.relevance.corpus import corpus
from benchmarks.relevance.measure import (
    CUT,
    Relevance,
    measure_bm25,
    measure_dense,
    measure_hybrid,
)
from benchmarks.report import Figure, Report, machine
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
    here = machine()
    print("; ".join(f"{name} {value}" for name, value in here.items()))
    found = anyio.run(_all, options.embedder)
    print(f"\n{_report(found).as_text()}")
    if options.missed:
        for one in found:
            print(f"\n{one.search}, no relevant text among the first {CUT}:")
            print(*(f"  {query}" for query in one.missed), sep="\n")


def _report(found: Sequence[Relevance]) -> Report:
    known = corpus()
    return Report(
        title="relevance: what recall finds when other words are asked for than the texts use",
        method=f"{len(known.texts)} texts on 20 topics and {len(known.queries)} queries in other "
        f"words, each with the texts that answer it. recall@{CUT} is the share of those among the "
        "first five; MRR is 1 over the rank of the first one, 0 behind the tenth; means of the "
        "queries. bm25 and hybrid are `search` of a SQLite store with one version a run; dense is "
        "cosine similarity over all vectors, without a store. How deep the two rankings of hybrid "
        "search are fused was chosen with these queries at hand.",
        figures=tuple(
            figure
            for one in found
            for figure in (
                Figure(what=one.search, value=one.recall, unit=f"recall@{CUT}"),
                Figure(what=one.search, value=one.reciprocal_rank, unit="MRR"),
            )
        ),
    )


async def _all(names: Sequence[str]) -> list[Relevance]:
    return [found async for found in _measured(names)]


async def _measured(names: Sequence[str]) -> AsyncGenerator[Relevance]:
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
