"""Measurements in blocks of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over blocks of runs of equal size."""

    blocks: tuple[float, ...]
    """The mean of each block; the same block of two cells had the same random numbers."""

    @property
    def value(self) -> float:
        """The mean over all runs."""
        return fmean(self.blocks)

    @property
    def error(self) -> float:
        """Its standard error, from how much the blocks differ; 0 when there is only one."""
        return stdev(self.blocks) / sqrt(len(self.blocks)) if len(self.blocks) > 1 else 0.0

    def minus(self, other: "Mean") -> "Mean":
        """The difference, block by block, so that what both have in common falls out."""
        return Mean(blocks=tuple(a - b for a, b in zip(self.blocks, other.blocks, strict=True)))


def mean_of(blocks: Sequence[Sequence[float]]) -> Mean:
    """The mean over the runs of blocks."""
    return Mean(blocks=tuple(fmean(block) for block in blocks))
