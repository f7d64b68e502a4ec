"""The words of Thai, which puts no space between them."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import compress, pairwise, repeat
from operator import add
from typing import Any, cast

from sifaka.text.prose import Span

_PAD = "\0\0\0"
"""Around a run: no feature of the model has such a character."""
_FEATURES = (
    *(("UW", number, 1, number - 1) for number in range(1, 7)),
    *(("BW", number, 2, number) for number in range(1, 4)),
    *(("TW", number, 3, number - 1) for number in range(1, 5)),
)
"""Kind, number, length in characters, and the place of the first one, counted from three
characters before the boundary that is asked about."""


def thai_words(run: str) -> Iterator[Span]:
    """The words of letters, marks and digits of Thai that stand together.

    A boundary is where the linear model of BudouX says so: the characters, pairs and triples
    around a place are weighed.
    """
    singles = f"{_PAD}{run}{_PAD}"
    pairs = list(map(add, singles, singles[1:]))
    grams = (singles, pairs, list(map(add, pairs, singles[2:])))
    weights, least = _model()
    count = len(run) - 1
    scores = map(
        sum,
        zip(
            *(
                map(weights[f"{kind}{number}"].get, grams[length - 1][at + 1 :], repeat(0))
                for kind, number, length, at in _FEATURES
            ),
            strict=False,
        ),
    )
    ends = compress(range(1, count + 1), (score > least for score in scores))
    yield from pairwise((0, *ends, len(run)))


@lru_cache(maxsize=1)
def _model() -> tuple[Mapping[str, Mapping[str, int]], float]:
    """The weights of each feature, and the sum of them that a boundary has to exceed."""
    import budoux

    model = cast("Any", budoux).load_default_thai_parser().model
    weights = {
        f"{kind}{number}": model.get(f"{kind}{number}", {}) for kind, number, *_ in _FEATURES
    }
    return weights, sum(sum(each.values()) for each in model.values()) / 2
