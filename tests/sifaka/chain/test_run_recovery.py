"""Runs that fail and go on in the way that suits the failure."""

from collections.abc import Iterator, Sequence
from typing import Any

import anyio
import pytest

from sifaka import Chain, Document, RunResult, Thought
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
from sifaka.record.results import CriticFeedback
from sifaka.record.run import Phase
from sifaka.retrievers.mock import MockRetriever
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio

RULES = [{"type": "length", "max_words": 2}]


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The waits between a failure and the next try, in seconds, none of them really waited."""
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("sifaka.chain.chain.anyio.sleep", note)
    yield waits
    monkeypatch.undo()
    assert anyio.sleep is not note


def fails(code: str, **fields: Any) -> ModelProviderError:
    return ModelProviderError(f"stub: {code}", error_code=code, **fields)


async def recovered(
    *lines: str | Exception, most: int = 5, prompt: str = "", **settings: Any
) -> tuple[RunResult, ScriptedModel]:
    """A run that shortens a text by a model that says or raises these."""
    model = ScriptedModel(lines=lines)
    given: dict[str, Any] = {"validators": RULES, "critics": [], **settings}
    chain = Chain(model=model, **given)
    return await chain.run_with_recovery(prompt, text="a b c", most=most), model


def strategies_of(result: RunResult) -> list[str]:
    return [recovery.strategy for recovery in result.run.recoveries]


async def test_a_provider_that_comes_back_is_asked_again(waited: list[float]) -> None:
    result, _ = await recovered(fails("server"), fails("connection"), "a b")
    assert (result.text, result.status) == ("a b", "done")
    assert strategies_of(result) == ["retry", "retry"]
    assert len(waited) == 2
    assert any("server in phase generate" in line for line in result.degraded)


async def test_a_context_that_is_too_long_is_shortened() -> None:
    long = MockRetriever(documents=(Document(text="x" * 8000),))
    lines = (fails("context_window"), fails("context_window"), "a b")
    result, model = await recovered(*lines, prompt="task", retrievers=[long])
    assert result.text == "a b"
    sizes = [len(t.pre_generation_context[0].text) for t in model.seen]
    assert sizes == [8000, 4000, 2000]


class Silent:
    name = "silent"

    async def critique(self, thought: Thought) -> CriticFeedback:
        raise CriticError("nothing comes to mind")


async def test_critics_that_stay_silent_are_left_out_and_the_run_replays_exactly() -> None:
    store = MemoryStorage()
    result, _ = await recovered("a b", critics=[Silent()], most=10, store=store)
    assert result.text == "a b"
    assert strategies_of(result) == ["retry", "skip"] * 2
    assert result.thought.critic_feedback[0].reason == "left out after a failure"
    assert result.stop_reason != "passed", "nobody has said that it is good"
    chain = Chain(model=ScriptedModel(lines=[]), validators=RULES, critics=[Silent()], store=store)
    assert (await chain.replay(result.run_id)).differences == ()


@pytest.mark.parametrize("code", ["authentication", "quota", "rejected", "context_window"])
async def test_what_does_not_pass_by_itself_is_not_tried_again(
    code: str, waited: list[float]
) -> None:
    result, model = await recovered(fails(code), "a b")
    assert (result.status, result.run.error_code) == ("failed", code)
    assert (waited, len(model.seen)) == ([], 1)


async def test_critics_that_all_hit_a_limit_are_asked_again_more_slowly(
    waited: list[float],
) -> None:
    class Limited:
        name = "limited"
        asked = 0

        async def critique(self, thought: Thought) -> CriticFeedback:
            self.asked += 1
            if self.asked == 1:
                raise fails("rate_limit", retry_after=4.0)
            return CriticFeedback(critic="limited", verdict="accept")

    result, _ = await recovered(critics=[Limited()], validators=[])
    assert (result.status, result.stop_reason) == ("done", "passed")
    assert (strategies_of(result), waited) == (["fewer_parallel_calls"], [4.0])


SLOWER: Strategy = "fewer_parallel_calls"
SHORTER: Strategy = "shorter_context"


def strategies(code: str, phase: Phase) -> list[Strategy | None]:
    plans = [plan_recovery(code, phase=phase, attempts=n) for n in range(MOST_ATTEMPTS + 1)]
    return [each.strategy if each else None for each in plans]


Plan = tuple[str, Phase, Sequence[Strategy], Strategy | None]


def plans(
    phase: Phase, codes: str, *steps: Strategy, then: Strategy | None = None
) -> Iterator[Plan]:
    """What comes of each of these codes: these steps, and then this or nothing."""
    for code in codes.split():
        yield code, phase, steps, then


PLANS: list[Plan] = [
    # What passes by itself is tried again; a provider that has enough is asked less; a context
    # that is too long is halved; a writer without a usable reply writes anew.
    *plans("generate", "connection timeout server operation_timeout", "retry", "retry", "retry"),
    *plans("generate", "rate_limit circuit_open", SLOWER, SLOWER, SLOWER),
    *plans("generate", "context_window memory_limit_error", SHORTER, SHORTER, SHORTER),
    *plans("generate", "malformed empty", "restart_iteration", "restart_iteration"),
    # A judge is asked again, and the version stays.
    *plans("select", "malformed", "retry", "retry", "retry"),
    # Critics are done without at last.
    *plans("critique", "critic_error connection malformed", "retry", then="skip"),
    *plans("critique", "unknown os_error", "retry", then="skip"),
    *plans("critique", "rate_limit", SLOWER, SLOWER, then="skip"),
    *plans("critique", "context_window", SHORTER, SHORTER, SHORTER, then="skip"),
    # Of the writer it is for somebody to look at.
    *plans("generate", "unknown"),
]


@pytest.mark.parametrize(("code", "phase", "steps", "then"), PLANS)
def test_each_failure_is_recovered_from_in_its_way_and_not_for_ever(
    code: str, phase: Phase, steps: Sequence[Strategy], then: Strategy | None
) -> None:
    rest = [then] * (MOST_ATTEMPTS - len(steps))
    assert strategies(code, phase) == [*steps, *rest, None]


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


@pytest.mark.parametrize(
    ("code", "limits"),
    [
        ("server", [(0.0, 2.0), (0.0, 4.0), (0.0, 8.0)]),
        ("rate_limit", [(5.0, 10.0), (10.0, 20.0), (20.0, 40.0)]),
    ],
)
def test_the_wait_doubles_and_is_drawn_anew_each_time(
    code: str, limits: list[tuple[float, float]]
) -> None:
    drawn = list[tuple[float, float]]()

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return (low + high) / 4

    plans = [plan_recovery(code, phase="generate", attempts=n, uniform=draw) for n in range(3)]
    assert drawn == limits
    waits = [each.wait_seconds for each in plans if each]
    assert waits == [(low + high) / 4 for low, high in limits]


@pytest.mark.parametrize(
    ("code", "asked", "waited"),
    [("rate_limit", 60, 60), ("server", 60, 60), ("circuit_open", 60, 60), ("rate_limit", -3, 0)],
)
def test_what_the_provider_asks_for_is_waited_for(code: str, asked: float, waited: float) -> None:
    found = plan_recovery(code, phase="generate", attempts=0, retry_after=asked)
    assert found is not None
    assert found.wait_seconds == waited


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
    assert code_of(ModelProviderError("m", error_code="quota")) == "quota"
    assert code_of(MemoryLimitError("m")) == "memory_limit_error"
    assert code_of(ConfigurationError("m")) == "configuration_error"
    assert code_of(VersionConflict("r", expected=1, found=2)) == "version_conflict"
    assert code_of(OSError()) == "os_error"
