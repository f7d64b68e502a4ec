"""The time of what reads texts grows with their length, whatever they are made of."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import cast

import pytest

from sifaka.errors import SifakaError
from sifaka.models.draft_extraction import Unfit
from tests.hostile.texts import TEXTS, Made
from tests.hostile.work import ELSEWHERE, FOUND, LISTED, OTHERS, WORK, Work, name_of
from tests.stubs.cost import seconds

SMALL = 2_000
TIMES = 8
"""How much longer each text is than the one before; the third has 128,000 characters."""
LINEAR = 2.6**3
"""For eight times the text: 8 is linear, 64 quadratic."""
SUSPICIOUS = 2.3**3
UNNOTICED = 0.05
"""Seconds of processor time for 16,000 characters that are not looked into further."""
TOO_LONG = 1.0
"""Seconds of processor time for 16,000 characters from which a longer text is not tried."""
QUICK = ("one letter", "full stops")
"""The texts that found the most; `make test-hostile` tries all."""
REFUSALS = (SifakaError, ValueError, Unfit, RecursionError)
"""What functions may raise for a text that they cannot read."""


def cost(work: Work, text: str) -> float:
    def whole() -> None:
        with suppress(*REFUSALS):
            done = work(text)
            if isinstance(done, Iterator):
                deque(cast("Iterator[object]", done), maxlen=0)

    return seconds(whole)


def is_linear(work: Work, made: Made) -> bool:
    """True when no step of its times is more than linear; the noise of a machine is no step."""
    small, middle = (cost(work, made(size)) for size in (SMALL, SMALL * TIMES))
    if middle <= SUSPICIOUS * small:
        return True
    if middle > TOO_LONG:
        return False
    # A step up to a bound is no step beyond it.
    large = cost(work, made(SMALL * TIMES * TIMES))
    return large <= max(LINEAR**2 * small, TIMES * UNNOTICED)


@pytest.mark.parametrize("name", WORK)
def test_eight_times_the_text_takes_no_quadratic_time(name: str) -> None:
    _try(name, QUICK)


@pytest.mark.hostile
@pytest.mark.parametrize("name", WORK)
def test_nor_does_any_text(name: str) -> None:
    _try(name, TEXTS)


def _try(name: str, kinds: Iterable[str]) -> None:
    work = WORK[name]
    cost(work, TEXTS["one line"](1_000))  # what is loaded and compiled once
    slow = [kind for kind in kinds if not is_linear(work, TEXTS[kind])]
    # What is slow is slow each time.
    slow = [kind for kind in slow if not any(is_linear(work, TEXTS[kind]) for _ in range(6))]
    assert slow == []


def test_every_function_that_takes_a_text_is_tried() -> None:
    listed = {name_of(function) for function, _ in LISTED.values()}
    assert OTHERS - listed - ELSEWHERE.keys() == set()
    assert ELSEWHERE.keys() <= OTHERS | FOUND.keys(), "no longer there"


@pytest.mark.slow
def test_what_is_quadratic_is_found() -> None:
    def quadratic(text: str) -> object:
        return [text[:at].count("word") for at in range(0, len(text), 8)]

    assert not is_linear(quadratic, TEXTS["one word"])
