"""Models that stand in, breakers that open, and what the result says of it."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain
from sifaka.calls.breakers import Breakers
from sifaka.models.metered import ATTEMPTS

pytestmark = pytest.mark.anyio

RULES = [{"type": "length", "max_words": 2}]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go_on(seconds: float) -> None:
        del seconds

    monkeypatch.setattr("sifaka.models.metered.anyio.sleep", go_on)


class Stub:
    def __init__(self, name: str, answer: Callable[[], str]) -> None:
        self.asked = 0
        self._answer = answer
        self.model = FunctionModel(self._respond, model_name=name)

    def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked += 1
        return ModelResponse([TextPart(self._answer())])


def broken(status: int) -> Callable[[], str]:
    def answer() -> str:
        raise ModelHTTPError(status, "stub")

    return answer


async def test_another_model_answers_when_the_first_has_failed_for_good() -> None:
    first, second = Stub("first", broken(401)), Stub("second", lambda: "a b")
    result = await Chain(
        model=first.model, fallback_models=[second.model], validators=RULES, critics=[]
    ).run(text="a b c")
    assert (result.text, result.status) == ("a b", "done")
    assert (first.asked, second.asked) == (1, 1)
    assert result.thought.author == "function:second"
    assert "function:second answered 1 calls in place of a model that failed" in result.degraded


async def test_when_all_models_fail_the_error_names_each() -> None:
    models: list[Any] = [Stub("one", broken(401)).model, Stub("two", broken(404)).model]
    result = await Chain(
        model=models[0], fallback_models=models[1:], validators=RULES, critics=[]
    ).run(text="a b c")
    assert result.status == "failed"
    assert result.error is not None
    assert "function:one: the provider refused the credentials" in result.error
    assert "function:two: the provider does not know the model" in result.error
    assert result.run.error_code == "not_found"


async def test_attempts_of_all_models_count_in_one_budget() -> None:
    first, second = Stub("first", broken(503)), Stub("second", lambda: "a b")
    result = await Chain(
        model=first.model,
        fallback_models=[second.model],
        validators=RULES,
        critics=[],
        budget=Budget(max_calls=ATTEMPTS),
    ).run(text="a b c")
    assert (result.stop_reason, result.usage.model_calls) == ("budget_calls", ATTEMPTS)
    assert second.asked == 0


async def test_a_provider_that_keeps_failing_is_left_alone_and_the_next_is_asked_at_once() -> None:
    first = Stub("first", broken(503))
    second = Stub("second", lambda: "a b")
    chain = Chain(
        model=first.model,
        fallback_models=[second.model],
        validators=RULES,
        critics=[],
        breakers=Breakers(threshold=ATTEMPTS, cooldown=1000),
    )
    # Both are models of one provider here, `function`, so the breaker of one is that of the other.
    result = await chain.run(text="a b c")
    assert first.asked == ATTEMPTS
    assert result.run.error_code == "server", "what a breaker keeps from being asked says nothing"
    again = await chain.run(text="a b c")
    assert (first.asked, second.asked, again.run.error_code) == (ATTEMPTS, 0, "circuit_open")


async def test_an_error_has_no_price() -> None:
    answers = iter([broken(503), lambda: "a b"])
    flaky = Stub("flaky", lambda: next(answers)())
    result = await Chain(
        model=flaky.model, validators=RULES, critics=[], budget=Budget(max_calls=5)
    ).run(text="a b c")
    assert result.status == "done"
    assert result.usage.model_calls == 2
