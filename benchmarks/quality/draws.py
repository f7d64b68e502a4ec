"""Random numbers that are the same in every run of a benchmark."""

from random import Random


def stratified(rows: int, columns: int, seed: str) -> list[list[float]]:
    """Uniform numbers, one row for each run of a block.

    Each column holds one number of each of `rows` equal parts of the unit interval, in an order of
    its own (McKay et al. 1979, Latin hypercube sampling). Every row by itself is as random as any;
    the average over a block varies less.
    """
    random = Random(seed)  # noqa: S311 - a simulation
    drawn: list[list[float]] = []
    for _ in range(columns):
        parts = list(range(rows))
        random.shuffle(parts)
        drawn.append([(part + random.random()) / rows for part in parts])
    return [list(row) for row in zip(*drawn, strict=True)]


class Noise:
    """One source of random numbers of one run: its nth number does not depend on other sources.

    So two policies meet the same writer: its third revision moves the quality equally in both.
    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)  # noqa: S311 - a simulation

    def normal(self) -> float:
        """A number of the standard normal distribution."""
        return self._random.gauss(0.0, 1.0)

    def uniform(self) -> float:
        """A number from 0 up to, but not including, 1."""
        return self._random.random()

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability
