import pytest

from sifaka.chain.recovery import MOST_ATTEMPTS, Recovery, plan_recovery
from sifaka.errors import (
    ConfigurationError,
    CriticError,
    MemoryLimitError,
    ModelProviderError,
    VersionConflict,
    code_of,
)
from sifaka.record.entries import Strategy
from sifaka.record.run import Phase

SLOWER: Strategy = "fewer_parallel_calls"
SHORTER: Strategy = "shorter_context"


def longest(_low: float, high: float) -> float:
    return high


def strategies(code: str, phase: Phase) -> list[Strategy | None]:
    plans = [plan_recovery(code, phase=phase, attempts=n) for n in range(MOST_ATTEMPTS + 1)]
    return [each.strategy if each else None for each in plans]


def padded(*steps: Strategy, then: Strategy | None = None) -> list[Strategy | None]:
    return [*steps, *(then for _ in range(MOST_ATTEMPTS - len(steps))), None]


@pytest.mark.parametrize("code", ["connection", "timeout", "server", "operation_timeout"])
def test_what_passes_by_itself_is_tried_again_three_times(code: str) -> None:
    assert strategies(code, "generate") == padded("retry", "retry", "retry")


@pytest.mark.parametrize("code", ["rate_limit", "circuit_open"])
def test_a_provider_that_has_enough_is_asked_less(code: str) -> None:
    assert strategies(code, "generate") == padded(SLOWER, SLOWER, SLOWER)


@pytest.mark.parametrize("code", ["context_window", "memory_limit_error"])
def test_a_context_that_is_too_long_is_halved_three_times_at_most(code: str) -> None:
    assert strategies(code, "generate") == padded(SHORTER, SHORTER, SHORTER)


@pytest.mark.parametrize("code", ["malformed", "empty"])
def test_a_writer_without_a_usable_reply_writes_anew(code: str) -> None:
    assert strategies(code, "generate") == padded("restart_iteration", "restart_iteration")


def test_a_judge_without_a_usable_reply_is_asked_again_and_the_version_stays() -> None:
    assert strategies("malformed", "select") == padded("retry", "retry", "retry")


@pytest.mark.parametrize("code", ["critic_error", "connection", "malformed", "unknown", "os_error"])
def test_critics_are_tried_once_more_and_then_done_without(code: str) -> None:
    assert strategies(code, "critique") == padded("retry", then="skip")


def test_critics_that_are_asked_too_much_at_once_are_skipped_at_last() -> None:
    assert strategies("rate_limit", "critique") == padded(SLOWER, SLOWER, then="skip")


def test_critics_with_too_long_a_context_are_skipped_at_last() -> None:
    assert strategies("context_window", "critique") == padded(
        SHORTER, SHORTER, SHORTER, then="skip"
    )


@pytest.mark.parametrize("phase", ["generate", "retrieve", "critique", "select"])
@pytest.mark.parametrize(
    "code",
    [
        "authentication",
        "quota",
        "not_found",
        "rejected",
        "configuration_error",
        "budget_exceeded",
        "storage_error",
        "version_conflict",
    ],
)
def test_what_no_further_try_can_mend_is_not_tried(code: str, phase: Phase) -> None:
    assert set(strategies(code, phase)) == {None}


def test_only_critics_are_ever_skipped() -> None:
    for phase in ("generate", "retrieve", "validate", "select"):
        for code in ("server", "rate_limit", "context_window", "malformed", "unknown"):
            assert "skip" not in strategies(code, phase)


def test_critics_that_all_failed_alike_are_treated_by_their_code() -> None:
    error = CriticError("every critic abstained", code="rate_limit", retry_after=3.0)
    assert code_of(error) == "rate_limit"
    found = plan_recovery(
        code_of(error), phase="critique", attempts=0, retry_after=error.retry_after
    )
    assert found is not None
    assert (found.strategy, found.wait_seconds) == ("fewer_parallel_calls", 3.0)
    assert code_of(CriticError("for different reasons")) == "critic_error"


def test_an_unknown_failure_of_the_writer_is_for_somebody_to_look_at() -> None:
    assert plan_recovery("unknown", phase="generate", attempts=0) is None


def test_the_wait_doubles_and_is_drawn_from_all_of_it() -> None:
    drawn = list[tuple[float, float]]()

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return high / 4

    plans = [plan_recovery("server", phase="generate", attempts=n, uniform=draw) for n in range(3)]
    assert drawn == [(0.0, 2.0), (0.0, 4.0), (0.0, 8.0)]
    assert [each.wait_seconds for each in plans if each] == [0.5, 1.0, 2.0]


def test_a_rate_limit_without_a_time_is_waited_for_at_least_half_as_long() -> None:
    drawn = list[tuple[float, float]]()

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return low

    for attempts in range(3):
        plan_recovery("rate_limit", phase="generate", attempts=attempts, uniform=draw)
    assert drawn == [(5.0, 10.0), (10.0, 20.0), (20.0, 40.0)]


@pytest.mark.parametrize("code", ["rate_limit", "server", "circuit_open"])
def test_what_the_provider_asks_for_is_waited_for(code: str) -> None:
    found = plan_recovery(code, phase="generate", attempts=0, retry_after=60.0)
    assert found is not None
    assert found.wait_seconds == 60.0


def test_a_time_that_has_passed_is_no_wait() -> None:
    found = plan_recovery("rate_limit", phase="generate", attempts=0, retry_after=-3.0)
    assert found is not None
    assert found.wait_seconds == 0.0


@pytest.mark.parametrize("seconds", [60.5, float("inf")])
def test_a_provider_that_asks_for_more_than_a_minute_has_failed(seconds: float) -> None:
    assert plan_recovery("rate_limit", phase="generate", attempts=0, retry_after=seconds) is None


def test_critics_nobody_waits_a_minute_for_are_skipped_at_once() -> None:
    assert plan_recovery("rate_limit", phase="critique", attempts=0, retry_after=61.0) == Recovery(
        strategy="skip",
        wait_seconds=0.0,
        why="rate_limit in phase critique: going on without",
    )


def test_the_code_of_an_error_is_the_providers_or_the_name_of_its_class() -> None:
    assert code_of(ModelProviderError("m", code="quota")) == "quota"
    assert code_of(MemoryLimitError("m")) == "memory_limit_error"
    assert code_of(ConfigurationError("m")) == "configuration_error"
    assert code_of(VersionConflict("r", expected=1, found=2)) == "version_conflict"
    assert code_of(OSError()) == "os_error"
