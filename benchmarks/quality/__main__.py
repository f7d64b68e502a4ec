"""`python -m benchmarks.quality [options]`: selection in worlds with known error rates."""

import argparse
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.quality import arena, binary_grid, consensus_table
from benchmarks.quality.binary_grid import TOLERANCE, Cell, Grid
from benchmarks.quality.pooling import workers
from benchmarks.quality.tables import Table, put_into
from benchmarks.report import machine

WORLDS = ("binary", "continuous", "consensus")
PUBLISHED = frozenset({"own", "equal", "consensus"})
"""The tables that the document shows; the others are only printed."""


def main() -> None:
    options = _options()
    began = perf_counter()
    here = "; ".join(f"{name} {value}" for name, value in machine().items())
    print(here, flush=True)
    cells: tuple[Cell, ...] = ()
    equal: tuple[arena.Score, ...] = ()
    tables: list[Table] = []
    failed: list[str] = []

    def show(table: Table) -> None:
        tables.append(table)
        print(f"\n{table.as_text()}\n  ({perf_counter() - began:.0f} s)", flush=True)

    with workers(options.processes) as pool:
        if "binary" in options.worlds:
            cells = binary_grid.measure(_grid(options), pool)
            show(binary_grid.table_of(cells))
            off = sum(not cell.agrees for cell in cells)
            print(f"  {len(cells) - off} of {len(cells)} cells within {TOLERANCE:g}")
            if off:
                failed.append(f"{off} cells of the binary world are off")
        if "continuous" in options.worlds:
            runs, seed = options.games, options.seed
            own = arena.own_settings(runs, seed, pool)
            show(arena.table_of("own", "Continuous world, base: own settings", own))
            equal = arena.equal_calls(runs, seed, pool)
            title = f"Continuous world, base: about {arena.CALLS} calls"
            show(arena.table_of("equal", title, equal))
            others = arena.other_worlds(runs, seed, pool)
            show(arena.table_of("others", "Other continuous worlds: own settings", others))
            misses = arena.missed((*own, *others))
            print(f"  goals {dict(arena.MOST_WORSE)}: {'MISSED' if misses else 'met'}")
            failed += misses
            few = arena.few_questions(runs, seed, pool)
            show(arena.table_of("few", "Three questions to a host", few))
            lies = arena.liars(max(1, runs // 3), seed, pool)
            show(arena.table_of("liars", "Judges that do not look at the texts", lies))
            elsewhere = arena.equal_calls_elsewhere(max(1, runs // 3), seed, pool)
            title = f"Other continuous worlds: about {arena.CALLS} calls"
            show(arena.table_of("elsewhere", title, elsewhere))
        if "consensus" in options.worlds:
            agreements = consensus_table.measure(options.reviews, options.seed, pool)
            show(consensus_table.table_of(agreements))
    if options.markdown:
        shown = [table for table in tables if table.name in PUBLISHED]
        put_into(options.markdown, [(table.name, table.as_markdown()) for table in shown])
    if options.plot:
        from benchmarks.quality.plot import draw

        draw(cells, equal, options.plot)
    if failed:
        sys.exit("; ".join(failed))


def _grid(options: argparse.Namespace) -> Grid:
    return Grid(
        repair=options.r,
        harm=options.h,
        accuracy=options.judge,
        steps=options.steps,
        start=options.start,
        runs=options.runs,
        seed=options.seed,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--r", type=_rates, default=(0.3,), help="P(a bad text becomes good)")
    parser.add_argument("--h", type=_rates, default=(0.1,), help="P(a good text becomes bad)")
    parser.add_argument(
        "--judge", type=_rates, default=(0.7, 0.85), help="P(a comparison is right)"
    )
    parser.add_argument("--steps", type=_counts, default=(1, 2, 3), help="revisions")
    parser.add_argument("--start", type=_rate, default=0.5, help="P(the input is good)")
    parser.add_argument("--runs", type=_count, default=20_000, help="of each binary cell")
    parser.add_argument("--games", type=_count, default=1000, help="of each continuous contender")
    parser.add_argument("--reviews", type=_count, default=500, help="of each consensus panel")
    parser.add_argument("--worlds", type=_worlds, default=WORLDS, help=",".join(WORLDS))
    parser.add_argument("--seed", default="sifaka", help="of all random numbers")
    parser.add_argument("--processes", type=_count, help="at a time; one for each core if left out")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the tables into it")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the figures into it")
    return parser.parse_args()


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 <= rate <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return rate


def _rates(text: str) -> tuple[float, ...]:
    return tuple(_rate(part) for part in text.split(","))


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return count


def _counts(text: str) -> tuple[int, ...]:
    return tuple(_count(part) for part in text.split(","))


def _worlds(text: str) -> tuple[str, ...]:
    worlds = tuple(text.split(","))
    unknown = set(worlds) - set(WORLDS)
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return worlds


if __name__ == "__main__":
    main()
