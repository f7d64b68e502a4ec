"""`docs/chain.md` against the engine: what a policy costs, and what follows a failure."""

import re
from typing import Any, get_args

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain
from sifaka.calls.breakers import LONGEST_COOLDOWN, Breakers
from sifaka.calls.context import PARALLEL
from sifaka.calls.ledger import SHORTEST_ANSWER
from sifaka.chain.configuration import PRESETS, Effort
from sifaka.chain.recovery import LONGEST_WAIT, MOST_ATTEMPTS, plan_recovery
from sifaka.errors import ModelProviderError
from sifaka.record.entries import Policy, Strategy
from sifaka.record.run import Phase
from tests.docs.markdown import code, section, table

DOCUMENT = "docs/chain.md"
RECOVERY = "Going on after a failure"
PHASES: tuple[Phase, ...] = ("generate", "critique")
"""What the columns of the table of recoveries are about."""


class Climber:
    """A model whose every version is longer; as a judge it prefers the longer, as a critic more."""

    def __init__(self) -> None:
        self.calls = 0

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.calls += 1
        if not info.output_tools:
            return ModelResponse([TextPart("a" * (self.calls + 1))])
        (form,) = info.output_tools
        question = str(getattr(messages[0].parts[0], "content", ""))
        texts = [len(found) for found in re.findall(r"\n(a+)\n", question)]
        answer: dict[str, Any] = {"verdict": "revise"}
        if "verdict" not in form.parameters_json_schema["properties"]:
            answer = {"better": "first" if texts[0] > texts[1] else "second"}
        return ModelResponse([ToolCallPart(form.name, answer)])


def calls_of_a_run(prompt: str = "", **settings: Any) -> int:
    """Model calls of a run in which nobody is ever content and each version is preferred."""
    model = Climber()
    chain = Chain(
        model=FunctionModel(model.answer), critics=["self_refine"], patience=None, **settings
    )
    result = chain.run_sync(prompt, text="a")
    assert result.stop_reason == "max_iterations"
    assert result.usage.model_calls == model.calls
    return model.calls


@pytest.mark.parametrize("row", table(section(DOCUMENT, "Policies")), ids=lambda row: row[0])
def test_a_policy_costs_what_is_told(row: list[str]) -> None:
    policy, formula, told = code(row[0])[0], code(row[2])[0], int(row[3])
    python = re.sub(r"(?<=[0-9A-Z)])(?=[A-Z(])", "*", formula)
    names: dict[str, Any] = {"K": 3, "C": 1, "W": 3, "__builtins__": {}}
    assert eval(python, names) == told  # noqa: S307 - our own document
    assert calls_of_a_run(policy=policy, max_iterations=3, look_back=0) == told
    in_a_run_with_a_task = calls_of_a_run("Go on.", policy=policy, max_iterations=3, look_back=0)
    assert in_a_run_with_a_task == told - 1  # nobody reviews the input


def test_every_policy_is_told() -> None:
    rows = table(section(DOCUMENT, "Policies"))
    assert {code(row[0])[0] for row in rows} == set(get_args(Policy))


def test_every_effort_costs_what_is_told() -> None:
    text = " ".join(section(DOCUMENT, "When it stops").split())
    rounds = {e: int(told) for told, e in re.findall(r"(\d+)(?: calls)? for `(\w+)`", text)}
    assert rounds == {e: calls_of_a_run(effort=e, look_back=0) for e in get_args(Effort)}
    added = re.findall(r"(\d) or (\d)(?: calls)? with `(\w+)`", text)
    looking = {effort: p.look_back for effort, p in PRESETS.items() if p.look_back}
    assert added == [(str(n), str(2 * n), effort) for effort, n in looking.items()]


def _highest(low: float, high: float) -> float:
    return high


def _steps(failure: str, phase: Phase) -> list[str]:
    """The strategies for a failure that does not go away, up to the one that skips."""
    steps: list[str] = []
    for attempts in range(MOST_ATTEMPTS + 1):
        chosen = plan_recovery(failure, phase=phase, attempts=attempts, uniform=_highest)
        if chosen is None:
            break
        steps.append(chosen.strategy)
        if chosen.strategy == "skip":
            break
    return steps


def _told(cell: str) -> list[str]:
    found = re.findall(r"(?:(\d) × )?`(\w+)`", cell)
    assert found or cell == "nothing", cell
    return [strategy for times, strategy in found for _ in range(int(times or 1))]


@pytest.mark.parametrize("row", table(section(DOCUMENT, RECOVERY)), ids=lambda row: row[0])
def test_what_is_tried_after_a_failure_is_told(row: list[str]) -> None:
    for failure in code(row[0]):
        for cell, phase in zip(row[1:], PHASES, strict=True):
            assert _told(cell) == _steps(failure, phase), (failure, phase)


def test_no_failure_that_something_is_tried_for_is_left_out() -> None:
    text = section(DOCUMENT, RECOVERY)
    told = {failure for row in table(text) for failure in code(row[0])}
    documented = re.findall(r"`(\w+)`", (ModelProviderError.__doc__ or "").partition("code:")[2])
    assert set(documented) - {"unknown", "not_recorded", "refused", "unavailable"} <= told
    for nothing_helps in ("unknown", "refused", "unavailable"):
        assert _steps(nothing_helps, "generate") == []
    strategies = table(text[text.index("| Strategy") :])
    assert {code(row[0])[0] for row in strategies} == set(get_args(Strategy))


def test_the_numbers_about_waiting_are_those_of_the_code() -> None:
    text = section(DOCUMENT, RECOVERY)
    for strategy, failure in (("retry", "server"), ("fewer_parallel_calls", "rate_limit")):
        rows = table(text[text.index("| Strategy") :])
        (told,) = (row[1] for row in rows if code(row[0])[0] == strategy)
        plans = [
            plan_recovery(failure, phase="generate", attempts=n, uniform=_highest) for n in range(3)
        ]
        longest = [f"{p.wait_seconds:g}" for p in plans if p is not None]
        numbers = dict.fromkeys(re.findall(r"\d+", told))
        assert [number for number in numbers if number in longest] == longest
    assert f"up to {LONGEST_WAIT:g} seconds" in text
    assert f"at most {MOST_ATTEMPTS} recoveries" in text
    budgets = section(DOCUMENT, "Budgets")
    assert f"less than {SHORTEST_ANSWER} tokens" in budgets
    assert f"At most {PARALLEL} model calls" in budgets


def test_a_breaker_opens_and_waits_as_told() -> None:
    text = " ".join(section(DOCUMENT, "When a provider fails").split())
    match = re.search(r"After (\d+) transient failures .* opens for (\d+) seconds", text)
    assert match
    failures, seconds = map(int, match.groups())
    now = 0.0
    breakers = Breakers(clock=lambda: now)
    for _ in range(failures - 1):
        breakers.failed("openai")
    breakers.require("openai")
    breakers.failed("openai")
    with pytest.raises(ModelProviderError) as raised:
        breakers.require("openai")
    assert (raised.value.error_code, raised.value.retry_after) == ("circuit_open", seconds)
    assert f"up to {LONGEST_COOLDOWN:g} seconds" in text
