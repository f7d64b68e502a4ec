"""Samples of a measurement, and the texts that are measured with."""

from collections.abc import Sequence
from statistics import quantiles

from sifaka_mcp.cli.improve import TEXT

KILOBYTES_8 = 8192


def percentile(samples: Sequence[float], percent: int) -> float:
    """The value that `percent` of the samples do not exceed."""
    return quantiles(samples, n=100, method="inclusive")[percent - 1]


def prose(words: int, *, after: int = 0) -> str:
    """Plain English of so many words, starting at some word of the example text, over and over."""
    all_words = TEXT.read_text(encoding="utf-8").encode("ascii", "ignore").decode().split()
    return " ".join(all_words[(after + n) % len(all_words)] for n in range(words))


def version_text(number: int) -> str:
    """The nth version of a text of 8 KB: other words, one character shorter than the one before."""
    return prose(2000, after=number)[: KILOBYTES_8 - number]
