"""The binary world on a grid of error rates, next to its closed form."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.quality.binary import BinaryWorld, Block, Outcome, play
from benchmarks.quality.closed_forms import gated, gated_with_look_back, limit, naive
from benchmarks.quality.pooling import spread
from benchmarks.quality.samples import Mean
from benchmarks.quality.tables import Table

TOLERANCE = 0.01
"""The largest accepted difference between a measured share and its closed form."""
_BLOCK = 500
"""Runs with stratified random numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Every combination of these is a cell."""

    repair: tuple[float, ...]
    harm: tuple[float, ...]
    accuracy: tuple[float, ...]
    steps: tuple[int, ...]
    start: float
    runs: int
    seed: str

    @property
    def worlds(self) -> tuple[BinaryWorld, ...]:
        """The naive loops, then the gated ones, each with the longest way of the grid."""
        base = BinaryWorld(start=self.start, repair=0, harm=0, accuracy=None, steps=max(self.steps))
        rates = [replace(base, repair=r, harm=h) for r, h in product(self.repair, self.harm)]
        return (
            *rates,
            *(
                replace(world, accuracy=accuracy)
                for world, accuracy in product(rates, self.accuracy)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One measured share of good texts."""

    world: BinaryWorld
    steps: int
    looked_back: bool
    """True for the run's result, False for the champion before its comparison with the original."""
    measured: Mean
    expected: float

    @property
    def difference(self) -> float:
        """Measured less expected."""
        return self.measured.value - self.expected

    @property
    def agrees(self) -> bool:
        """True when engine and arithmetic agree."""
        return abs(self.difference) <= TOLERANCE


def measure(grid: Grid, pool: ProcessPoolExecutor | None = None) -> tuple[Cell, ...]:
    """Every cell of the grid.

    A run of the longest way also shows where shorter ones end: its record says which version was
    the champion after each step. The look back at the original comes only at the end.
    """
    size = min(_BLOCK, grid.runs)
    jobs = [
        Block(world=world, runs=size, seed=f"{grid.seed}/{number}")
        for world in grid.worlds
        for number in range(-(-grid.runs // size))
    ]
    outcomes = spread(play, jobs, pool)
    each = len(jobs) // len(grid.worlds)
    return tuple(
        cell
        for n, world in enumerate(grid.worlds)
        for cell in _cells(grid, world, outcomes[n * each : (n + 1) * each])
    )


def _cells(grid: Grid, world: BinaryWorld, blocks: Sequence[Outcome]) -> list[Cell]:
    cells = [
        Cell(
            world=world,
            steps=steps,
            looked_back=False,
            measured=Mean(blocks=tuple(block.after[steps - 1] for block in blocks)),
            expected=_expected(world, steps),
        )
        for steps in grid.steps
    ]
    if world.accuracy is not None and world.steps > 1:
        expected = gated_with_look_back(
            world.start, world.repair, world.harm, world.accuracy, world.steps
        )
        final = Mean(blocks=tuple(block.final for block in blocks))
        cells.append(
            Cell(
                world=world,
                steps=world.steps,
                looked_back=True,
                measured=final,
                expected=expected,
            )
        )
    return cells


def _expected(world: BinaryWorld, steps: int) -> float:
    if world.accuracy is None:
        return naive(world.start, world.repair, world.harm, steps)
    return gated(world.start, world.repair, world.harm, world.accuracy, steps)


def table_of(cells: Sequence[Cell]) -> Table:
    """The cells, a row each."""
    return Table(
        name="binary",
        title="Binary world: share of good texts, the engine against the closed form",
        header=("loop", "r", "h", "J", "steps", "measured", "closed form", "difference",
                "s.e.", "limit"),
        rows=tuple(_row(cell) for cell in cells),
    )  # fmt: skip


def _row(cell: Cell) -> tuple[str, ...]:
    world = cell.world
    loop, judge, end = "naive", "", limit(world.repair, world.harm, 0.5)
    if world.accuracy is not None:
        loop = "gated, look back" if cell.looked_back else "gated"
        judge = f"{world.accuracy:g}"
        end = limit(world.repair, world.harm, world.accuracy)
    wrong = "" if cell.agrees else " OFF"
    return (
        loop,
        f"{world.repair:g}",
        f"{world.harm:g}",
        judge,
        str(cell.steps),
        f"{cell.measured.value:.4f}",
        f"{cell.expected:.4f}",
        f"{cell.difference:+.4f}{wrong}",
        f"{cell.measured.error:.4f}",
        "" if cell.looked_back else f"{end:.3f}",
    )
