"""The figures as a picture."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.quality.arena import MOST_WORSE, Score
from benchmarks.quality.binary import BinaryWorld
from benchmarks.quality.binary_grid import Cell
from benchmarks.quality.closed_forms import gated, naive

_REPRODUCIBLE = {"svg.hashsalt": "sifaka", "svg.fonttype": "none", "font.size": 9}
_COLOURS = (
    *("#666666", "#0072b2", "#56b4e9", "#d55e00", "#e69f00", "#009e73"),
    *("#cc79a7", "#f0e442", "#000000"),
)


def draw(cells: Sequence[Cell], scores: Sequence[Score], file: Path) -> None:
    """Draw the binary world's first rates next to equal calls; the same figures, the same file.

    Args:
        cells: Of the binary world; the left half stays empty without any.
        scores: At equal calls; the right half stays empty without any.
        file: Its ending says the format.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; it is in the dependency group `plots`.
    """
    # By name: type checkers need not have it.
    mpl: Any = import_module("matplotlib")
    mpl.use("agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    with mpl.rc_context(_REPRODUCIBLE):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
        if cells:
            _draw_binary(left, cells)
        if scores:
            _draw_policies(right, scores)
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, metadata=metadata)
        pyplot.close(figure)


def _draw_binary(axes: Any, cells: Sequence[Cell]) -> None:
    first = cells[0].world
    shown = [
        cell
        for cell in cells
        if (cell.world.repair, cell.world.harm) == (first.repair, first.harm)
        and not cell.looked_back
    ]
    worlds = list(dict.fromkeys(cell.world for cell in shown))
    for world, colour in zip(worlds, _COLOURS, strict=False):
        steps = range(world.steps + 1)
        axes.plot(steps, [_expected(world, n) for n in steps], color=colour, linewidth=1.2)
        mine = [cell for cell in shown if cell.world == world]
        axes.plot(
            [cell.steps for cell in mine],
            [cell.measured.value for cell in mine],
            "o",
            color=colour,
            label=_name(world),
        )
    axes.set_title(f"Share of good texts, r = {first.repair:g}, h = {first.harm:g}")
    axes.set_xlabel("revisions (dots: the engine, lines: closed form)")
    axes.set_xticks(range(first.steps + 1))
    axes.legend(loc="upper left", frameon=False)
    axes.grid(alpha=0.25)


def _draw_policies(axes: Any, scores: Sequence[Score]) -> None:
    for score, colour in zip(scores, _COLOURS, strict=False):
        axes.errorbar(
            score.gain.value,
            score.worse.value,
            xerr=2 * score.gain.error,
            yerr=2 * score.worse.error,
            fmt="o",
            color=colour,
            capsize=2,
            label=f"{score.contender} ({score.calls.value:.0f} calls)",
        )
    axes.axhline(MOST_WORSE["standard"], color="black", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_title("Continuous world, base, equal calls")
    axes.set_xlabel("mean gain in quality")
    axes.set_ylabel("P(result worse than the input)")
    axes.legend(loc="best", frameon=False)
    axes.grid(alpha=0.25)


def _expected(world: BinaryWorld, steps: int) -> float:
    if world.accuracy is None:
        return naive(world.start, world.repair, world.harm, steps)
    return gated(world.start, world.repair, world.harm, world.accuracy, steps)


def _name(world: BinaryWorld) -> str:
    if world.accuracy is None:
        return "naive"
    return f"gated, J = {world.accuracy:g}"
