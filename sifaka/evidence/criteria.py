"""The criteria that documents are judged by, and their weights."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import permutations
from math import fsum, isfinite
from operator import add

from pydantic import Field

from sifaka._internal.immutable import Frozen

TIME = "time"
_FINEST = 2**53
_MOST_ORDERS = 4
"""Shares of which every order is tried, which are the criteria of a plan."""


class Criterion(Frozen):
    """One thing a document should meet."""

    id: str
    type: str = "topic"
    """A word such as `topic`, `time` or `claim`; case and spaces around it do not count."""
    name: str = ""
    description: str = ""
    """The thing to look for, as a sentence."""
    weight: float = Field(default=1.0, ge=0, le=1)
    """The share of the score; those of one plan add up to 1."""

    @property
    def is_about_time(self) -> bool:
        """True when it asks only for a time, which makes no document relevant by itself."""
        return self.type.strip().casefold() == TIME


def weighted(criteria: Sequence[Criterion], weights: Iterable[object]) -> tuple[Criterion, ...]:
    """The criteria with weights that add up to exactly 1, in whatever order they are added.

    Args:
        criteria: Any number.
        weights: The weight of each, in any unit: 60 and 40 are .6 and .4.
            One that is missing, negative or no number counts as 0; if all do, they count the same.
    """
    given = [_number(weight) for weight in weights][: len(criteria)]
    given += [Fraction(0)] * (len(criteria) - len(given))
    total = sum(given)
    equal = Fraction(1, max(1, len(given)))
    shares = [weight / total if total else equal for weight in given]
    return tuple(
        criterion.model_copy(update={"weight": share})
        for criterion, share in zip(criteria, _rounded(shares), strict=True)
    )


def _rounded(shares: Sequence[Fraction]) -> list[float]:
    """The shares as floats that add up: the nearest ones, or else whole parts of 2^-53.

    Sums of such parts up to 1 are exact.
    """
    nearest = [float(share) for share in shares]
    if not shares or (len(shares) <= _MOST_ORDERS and _is_one(nearest)):
        return nearest
    parts = [round(share * _FINEST) for share in shares]
    heaviest = parts.index(max(parts))
    parts[heaviest] += _FINEST - sum(parts)
    return [part / _FINEST for part in parts]


def _is_one(shares: Sequence[float]) -> bool:
    """True when they add up to exactly 1 in every order."""
    return fsum(shares) == 1.0 and all(reduce(add, each) == 1.0 for each in permutations(shares))


def _number(weight: object) -> Fraction:
    """A weight as an exact fraction, so that nothing overflows."""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight > 0:
        return Fraction(0)
    return Fraction(weight) if isinstance(weight, int) or isfinite(weight) else Fraction(0)
