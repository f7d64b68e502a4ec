"""A tier is asked, or left alone for a while."""

from collections.abc import Callable

import pytest

from sifaka.errors import SifakaError, StorageError, ThoughtNotFound
from sifaka.storage import parts as asking
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.parts import Part


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asking, "time", clock)
    return clock


def down(*, retryable: bool = True) -> StorageError:
    failure = StorageError("down")
    failure.retryable = retryable
    return failure


def attempt(tier: Part[MemoryStorage], work: Callable[[], object] = lambda: None) -> bool:
    """True when it was asked."""
    asked: list[bool] = []
    try:
        with tier.attempt():
            asked.append(True)
            work()
    except SifakaError:
        pass
    return bool(asked)


def raising(error: SifakaError, clock: Clock, *, after: float = 0) -> Callable[[], object]:
    def work() -> None:
        clock.passes(after)
        raise error

    return work


@pytest.mark.parametrize(
    ("hangs", "paused"), [(5, 39), (0, 4)], ids=["a ninth of the time at most", "asked again soon"]
)
def test_a_tier_that_fails_is_left_alone_for_a_while(
    clock: Clock, hangs: float, paused: float
) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock, after=hangs))
    clock.passes(paused)
    assert not attempt(tier)
    clock.passes(2)
    assert attempt(tier)


def test_one_finds_out_for_all_whether_a_tier_works_again(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock))
    clock.passes(6)
    meanwhile: list[bool] = []
    assert attempt(tier, lambda: meanwhile.append(attempt(tier)))
    assert meanwhile == [False]
    assert attempt(tier)
    assert tier.failure is None


def test_who_was_cancelled_has_not_found_out(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock))
    clock.passes(6)
    with pytest.raises(KeyboardInterrupt), tier.attempt():
        raise KeyboardInterrupt
    assert attempt(tier)


def test_what_fails_for_one_run_keeps_no_other_waiting(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(retryable=False), clock))
    meanwhile: list[bool] = []
    assert attempt(tier, lambda: meanwhile.append(attempt(tier)))
    assert meanwhile == [True]


def test_a_tier_that_knows_no_such_run_works(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=5)
    attempt(tier, raising(down(), clock))
    clock.passes(6)
    attempt(tier, raising(ThoughtNotFound("run_x"), clock))
    assert tier.failure is None


def test_a_tier_that_is_to_be_asked_each_time_is(clock: Clock) -> None:
    tier = Part("redis", MemoryStorage(), retry_after=0)
    attempt(tier, raising(down(), clock, after=5))
    assert attempt(tier)
