"""The texts that contenders returned, and the table of their scores."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks.prompts.cases import Case, Score
from benchmarks.quality.tables import Table

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One text that a contender returned."""

    case: Case
    text: str
    calls: int
    score: Score
    source: Score
    """The checks of the input."""
    error: str = ""
    """The kind of error that it ended with; the input counts as its text then."""

    @property
    def worse(self) -> bool:
        """True when the result is worse than the input by one of the checks."""
        return self.changed and self.score.worse_than(self.source)

    @property
    def changed(self) -> bool:
        """True when it is not the input."""
        return self.text.strip() != self.case.text.strip()


_COLUMNS: Mapping[str, Callable[[Outcome], bool]] = {
    "good": lambda outcome: outcome.score.good,
    "task met": lambda outcome: outcome.score.met,
    "facts kept": lambda outcome: not outcome.score.lost,
    "worse than the input": lambda outcome: outcome.worse,
    "unchanged": lambda outcome: not outcome.changed,
}


def table_of(name: str, title: str, found: Mapping[str, Sequence[Outcome]]) -> Table:
    """A row for each contender: percentages, the first and the worse ones with intervals."""
    return Table(
        name=name,
        title=title,
        header=("contender", "texts", "calls", *_COLUMNS),
        rows=tuple(_row(contender, outcomes) for contender, outcomes in found.items()),
    )


def _row(contender: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    calls = f"{fmean(outcome.calls for outcome in outcomes):.1f}"
    shares = (_share([holds(each) for each in outcomes]) for holds in _COLUMNS.values())
    return (contender, str(len(outcomes)), calls, *shares)


def _share(values: Sequence[bool]) -> str:
    """A percentage with its 95 % interval by the bootstrap, or Wilson's where none or all hold."""
    count, total = sum(values), len(values)
    if count in {0, total}:
        edge = 3.84 / (total + 3.84)
        low, high = (0.0, edge) if count == 0 else (1 - edge, 1.0)
    else:
        draw = random.Random(0)  # noqa: S311 - the same table each time
        means = sorted(fmean(draw.choices(values, k=total)) for _ in range(_RESAMPLES))
        low, high = means[_RESAMPLES // 40], means[-_RESAMPLES // 40]
    return f"{count / total:.0%} ({low * 100:.0f} to {high * 100:.0f})"


def as_data(outcome: Outcome) -> dict[str, Any]:
    """What a file keeps of an outcome."""
    return {
        "case": outcome.case.id,
        "text": outcome.text,
        "calls": outcome.calls,
        "error": outcome.error,
    }
