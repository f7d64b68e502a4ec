import pytest

from sifaka.calls.breakers import LONGEST_COOLDOWN, Breakers
from sifaka.errors import ModelProviderError


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(clock: Clock) -> Breakers:
    return Breakers(threshold=3, cooldown=30.0, clock=clock)


def fail(breakers: Breakers, times: int, provider: str = "openai") -> None:
    for _ in range(times):
        breakers.require(provider)
        breakers.failed(provider)


def refusal(breakers: Breakers, provider: str = "openai") -> ModelProviderError:
    with pytest.raises(ModelProviderError) as caught:
        breakers.require(provider)
    return caught.value


def test_a_provider_is_left_alone_after_so_many_failures_in_a_row(
    breakers: Breakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 10
    error = refusal(breakers)
    assert (error.code, error.provider, error.retry_after) == ("circuit_open", "openai", 20.0)
    assert error.retryable
    assert error.suggestion
    assert breakers.open_providers() == ("openai",)


def test_an_answer_in_between_starts_the_count_again(breakers: Breakers) -> None:
    fail(breakers, 2)
    breakers.succeeded("openai")
    fail(breakers, 2)
    breakers.require("openai")
    assert breakers.open_providers() == ()


def test_one_provider_says_nothing_about_another(breakers: Breakers) -> None:
    fail(breakers, 3)
    breakers.require("anthropic")
    assert breakers.open_providers() == ("openai",)


def test_after_the_cooldown_one_call_at_a_time_is_let_through(
    breakers: Breakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 30
    assert breakers.open_providers() == ()
    breakers.require("openai")
    assert refusal(breakers).retry_after == 5.0
    assert breakers.open_providers() == ("openai",)


def test_a_trial_that_succeeds_closes_the_breaker(breakers: Breakers, clock: Clock) -> None:
    fail(breakers, 3)
    clock.now += 30
    breakers.require("openai")
    breakers.succeeded("openai")
    fail(breakers, 2)
    breakers.require("openai")


def test_a_trial_that_fails_doubles_the_cooldown_up_to_five_minutes(
    breakers: Breakers, clock: Clock
) -> None:
    fail(breakers, 3)
    waits = list[float | None]()
    for _ in range(5):
        clock.now += LONGEST_COOLDOWN
        fail(breakers, 1)
        waits.append(refusal(breakers).retry_after)
    assert waits == [60.0, 120.0, 240.0, 300.0, 300.0]


def test_the_cooldown_is_the_first_one_again_once_the_provider_has_answered(
    breakers: Breakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 30
    fail(breakers, 1)
    clock.now += 60
    breakers.require("openai")
    breakers.succeeded("openai")
    fail(breakers, 3)
    assert refusal(breakers).retry_after == 30.0


def test_a_trial_without_a_verdict_gives_way_to_the_next(breakers: Breakers, clock: Clock) -> None:
    fail(breakers, 3)
    clock.now += 30
    breakers.require("openai")
    breakers.abandoned("openai")
    breakers.require("openai")
    refusal(breakers)


def test_a_trial_nobody_reports_on_gives_way_after_another_cooldown(
    breakers: Breakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 30
    breakers.require("openai")
    clock.now += 29
    assert refusal(breakers).retry_after == 1.0
    clock.now += 1
    breakers.require("openai")


def test_calls_from_before_the_breaker_opened_do_not_keep_it_open(
    breakers: Breakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 20
    breakers.failed("openai")
    breakers.abandoned("openai")
    assert refusal(breakers).retry_after == 10.0


def test_a_call_from_before_that_succeeds_closes_the_breaker(breakers: Breakers) -> None:
    fail(breakers, 3)
    breakers.succeeded("openai")
    breakers.require("openai")


def test_an_abandoned_call_neither_counts_nor_starts_the_count_again(breakers: Breakers) -> None:
    fail(breakers, 2)
    breakers.abandoned("openai")
    breakers.require("openai")
    breakers.failed("openai")
    refusal(breakers)
