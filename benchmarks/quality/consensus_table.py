"""Precision and recall of the issues that most samples report, next to their closed form."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from benchmarks.quality.closed_forms import precision_and_recall
from benchmarks.quality.consensus import FALSE, REAL, Panel, Review, play
from benchmarks.quality.pooling import spread
from benchmarks.quality.tables import Table

_BLOCK = 50
RATES = ((0.7, 0.2), (0.6, 0.3))
"""The probabilities that a sample reports a true issue, and a false one."""
SAMPLES = (3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The issues of reviews with n samples."""

    panel: Panel
    precision: float
    """True issues among those reported, over all reviews."""
    precision_error: float
    recall: float
    recall_error: float


def measure(reviews: int, seed: str, pool: ProcessPoolExecutor | None) -> tuple[Agreement, ...]:
    """Reviews at each of `RATES` with each of `SAMPLES`."""
    blocks = -(-reviews // _BLOCK)
    panels = [
        Panel(samples=n, found=p, invented=f, reviews=min(_BLOCK, reviews), seed=seed)
        for p, f in RATES
        for n in SAMPLES
    ]
    jobs = [
        Panel(
            samples=panel.samples,
            found=panel.found,
            invented=panel.invented,
            reviews=panel.reviews,
            seed=f"{seed}/{panel.samples}/{number}",
        )
        for panel in panels
        for number in range(blocks)
    ]
    played = iter(spread(play, jobs, pool))
    return tuple(
        agreement_of(panel, [each for _ in range(blocks) for each in next(played)])
        for panel in panels
    )


def agreement_of(panel: Panel, reviews: Sequence[Review]) -> Agreement:
    """Precision and recall over reviews, with standard errors."""
    right, wrong = sum(r.right for r in reviews), sum(r.wrong for r in reviews)
    precision = right / (right + wrong) if right + wrong else 1.0
    recalls = [r.right / REAL for r in reviews]
    # The standard error of a ratio: of its numerator less ratio times denominator.
    rest = [r.right - precision * (r.right + r.wrong) for r in reviews]
    reported = (right + wrong) / len(reviews)
    many = len(reviews) > 1
    return Agreement(
        panel=panel,
        precision=precision,
        precision_error=stdev(rest) / sqrt(len(rest)) / reported if many and reported else 0.0,
        recall=fmean(recalls),
        recall_error=stdev(recalls) / sqrt(len(recalls)) if many else 0.0,
    )


def table_of(agreements: Sequence[Agreement]) -> Table:
    """The agreements, a row each."""
    return Table(
        name="consensus",
        title="Consensus world: issues that more than half of the samples report",
        header=("p", "f", "samples", "precision", "closed form", "one sample", "recall",
                "closed form", "one sample"),
        rows=tuple(_row(agreement) for agreement in agreements),
        words=0,
    )  # fmt: skip


def _row(agreement: Agreement) -> tuple[str, ...]:
    panel = agreement.panel
    rates = (panel.found, panel.invented, REAL, FALSE)
    precision, recall = precision_and_recall(panel.samples, *rates)
    alone, alone_recall = precision_and_recall(1, *rates)
    return (
        f"{panel.found:g}",
        f"{panel.invented:g}",
        str(panel.samples),
        f"{agreement.precision:.3f} ± {agreement.precision_error:.3f}",
        f"{precision:.3f}",
        f"{alone:.3f}",
        f"{agreement.recall:.3f} ± {agreement.recall_error:.3f}",
        f"{recall:.3f}",
        f"{alone_recall:.3f}",
    )
