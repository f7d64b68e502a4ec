"""Breakers: when a provider is left alone, and for how long."""

import pytest

from sifaka.calls.breakers import LONGEST_COOLDOWN, Breakers
from sifaka.errors import ModelProviderError
from tests.stubs.clock import Clock

PROVIDER = "openai"
DOWN = "fails fails fails"
"""As often in a row as opens a breaker."""


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def breakers(clock: Clock) -> Breakers:
    return Breakers(threshold=3, cooldown=30.0, clock=clock)


def happen(steps: str, breakers: Breakers, clock: Clock) -> None:
    """Let calls begin and end, and seconds pass."""
    for step in steps.split():
        match step:
            case "begins":
                breakers.require(PROVIDER)
            case "fails":
                breakers.require(PROVIDER)
                breakers.failed(PROVIDER)
            case "failed":
                breakers.failed(PROVIDER)
            case "answered":
                breakers.succeeded(PROVIDER)
            case "abandoned":
                breakers.abandoned(PROVIDER)
            case seconds:
                clock.now += float(seconds)


def refusal(breakers: Breakers) -> ModelProviderError:
    with pytest.raises(ModelProviderError) as caught:
        breakers.require(PROVIDER)
    return caught.value


def test_who_is_refused_is_told_when_to_come_again(breakers: Breakers, clock: Clock) -> None:
    happen(f"{DOWN} 10", breakers, clock)
    error = refusal(breakers)
    assert (error.error_code, error.provider, error.retry_after) == ("circuit_open", PROVIDER, 20.0)
    assert error.retryable
    assert error.suggestion
    breakers.require("anthropic")
    assert breakers.open_providers() == (PROVIDER,)
    clock.now += 20
    assert breakers.open_providers() == ()
    breakers.require(PROVIDER)
    assert breakers.open_providers() == (PROVIDER,)


CASES: dict[str, tuple[str, float | None]] = {
    "an answer in between starts the count again": ("fails fails answered fails fails", None),
    "after the cooldown a call is let through": (f"{DOWN} 30", None),
    "one at a time": (f"{DOWN} 30 begins", 5.0),
    "a trial that succeeds closes the breaker": (f"{DOWN} 30 begins answered fails fails", None),
    "the cooldown is the first one again after an answer": (
        f"{DOWN} 30 fails 60 begins answered {DOWN}",
        30.0,
    ),
    "a trial without a verdict gives way to the next": (f"{DOWN} 30 begins abandoned", None),
    "and to no other": (f"{DOWN} 30 begins abandoned begins", 5.0),
    "a trial nobody reports on is waited for": (f"{DOWN} 30 begins 29", 1.0),
    "and gives way after another cooldown": (f"{DOWN} 30 begins 30", None),
    "calls from before it opened do not keep it open": (f"{DOWN} 20 failed abandoned", 10.0),
    "a call from before that succeeds closes it": (f"{DOWN} answered", None),
    "an abandoned call does not count": ("fails fails abandoned", None),
    "nor does it start the count again": ("fails fails abandoned begins failed", 30.0),
}


@pytest.mark.parametrize("rule", CASES)
def test_a_call_is_let_through_or_refused(rule: str, breakers: Breakers, clock: Clock) -> None:
    steps, wait = CASES[rule]
    happen(steps, breakers, clock)
    if wait is None:
        breakers.require(PROVIDER)
    else:
        assert refusal(breakers).retry_after == wait


def test_a_trial_that_fails_doubles_the_cooldown_up_to_five_minutes(
    breakers: Breakers, clock: Clock
) -> None:
    happen(DOWN, breakers, clock)
    waits = list[float | None]()
    for _ in range(5):
        happen(f"{LONGEST_COOLDOWN} fails", breakers, clock)
        waits.append(refusal(breakers).retry_after)
    assert waits == [60.0, 120.0, 240.0, 300.0, 300.0]
