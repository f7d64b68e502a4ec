"""Ten thousand runs that nobody planned: no budget is broken, and none is miscounted."""

import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from sifaka import Budget, Chain
from sifaka.calls.breakers import Breakers
from sifaka.models.metered import quote
from sifaka.record.entries import Policy
from sifaka.record.run import Run

pytestmark = pytest.mark.anyio

CHAINS = 125
"""Of each of the eight chunks; making one takes longer than a run of it."""
FEW = 30
"""The first of them, in which every end is seen."""
RUNS = 10
"""Of each chain."""
DEADLINE = 0.002
"""Seconds after which a critic that hangs abstains."""
TEXT = "The office moves in May."
CRITICS: tuple[Mapping[str, object], ...] = (
    {"type": "self_refine"},
    {"type": "prompt", "rubric": "It is short."},
    {"type": "reflexion"},
    {"type": "constitutional", "draw": 2},
    {"type": "constitutional", "draw": 3},
    {"type": "self_consistency", "n": 2},
    {"type": "self_consistency", "n": 3},
    {"type": "meta_rewarding", "n": 2},
    {"type": "n_critics", "roles": ["An editor", "A reader"]},
)
POLICIES: tuple[Policy, ...] = ("best", "judged", "best_of_n", "last")


@dataclass
class Provider:
    """Answers, fails, hangs or talks nonsense as the dice fall, and counts what it is asked."""

    dice: random.Random
    failing: float = 0.0
    malformed: float = 0.0
    hanging: float = 0.0
    cancel_at: int = 0
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    asked: int = 0

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked += 1
        if self.asked == self.cancel_at:
            self.scope.cancel()
        for _ in range(self.dice.choice((0, 0, 1, 3))):
            await checkpoint()
        if self.dice.random() < self.failing:
            raise self._failure()
        # A critic has a deadline, others would hang for good.
        if self.dice.random() < self.hanging and "review a text" in (info.instructions or ""):
            await anyio.sleep_forever()
        if self.dice.random() < self.malformed:
            return ModelResponse([TextPart(self.dice.choice(("", "Let me see.")))])
        if info.output_tools:
            return ModelResponse([ToolCallPart("answer", self._opinion())])
        return ModelResponse([TextPart(f"{TEXT} Version {self.dice.randrange(50)}.")])

    def _failure(self) -> ModelAPIError:
        kinds = (
            (ModelRateLimitError, 429),
            (ModelUnavailableError, 503),
            (ModelServerError, 500),
            (ModelAuthenticationError, 401),
        )
        kind, status = self.dice.choice(kinds)
        return ModelHTTPError.for_category(
            kind, status_code=status, model_name="scripted", retry_after=0.0
        )

    def _opinion(self) -> dict[str, object]:
        """Fits every form that is asked for."""
        issue = {"quote": "May", "message": "say which day", "severity": self.dice.randint(1, 5)}
        return {
            "verdict": self.dice.choice(("accept", "revise", "revise")),
            "issues": [issue] * self.dice.randrange(2),
            "better": self.dice.choice(("first", "second")),
            "reflection": "Name the day.",
        }


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Without the thousands of failures that are meant, told one by one."""
    caplog.set_level(logging.CRITICAL, logger="sifaka")


def _chain(dice: random.Random, provider: Provider) -> Chain:
    """Any chain; most are small, so that many of them can be tried."""
    policy = dice.choice(POLICIES)
    count = dice.choices(range(1, 7), weights=(20, 5, 1, 1, 1, 1))[0]
    return Chain(
        model=FunctionModel(provider.answer, model_name="scripted"),
        critics=dice.choices(CRITICS, k=count),
        validators=[{"type": "length", "max_words": 5}] if dice.random() < 0.2 else [],
        policy=policy,
        width=dice.randint(1, 4) if policy == "best_of_n" else None,
        max_iterations=dice.choice((0, 0, 1, 1, 1, 1, 1, 2)),
        critic_deadline=DEADLINE if provider.hanging else None,
        budget=Budget(max_calls=min(dice.randint(0, 30), dice.randint(0, 30))),
        breakers=Breakers(threshold=dice.choice((3, 1000)), cooldown=0.0),
    )


def _provider(dice: random.Random) -> Provider:
    def at_times(often: float, rate: float) -> float:
        return rate if dice.random() < often else 0.0

    return Provider(
        dice,
        failing=at_times(0.4, 0.2),
        malformed=at_times(0.3, 0.2),
        hanging=at_times(0.1, 0.3),
    )


async def _work(chain: Chain, provider: Provider, run_id: str) -> Run:
    """Go on with a run, for as long as the provider does not cancel it."""
    with anyio.CancelScope() as provider.scope:
        await chain.resume(run_id)
    return await chain.store.load(run_id)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("chunk", "chains"),
    [(0, FEW), *(pytest.param(n, CHAINS, marks=pytest.mark.servers) for n in range(8))],
)
async def test_no_run_asks_more_often_than_it_may_nor_counts_otherwise(
    chunk: int, chains: int, quiet: None
) -> None:
    dice = random.Random(chunk)  # noqa: S311 - not a secret
    seen: set[str] = set()
    for number in range(chains):
        provider = _provider(dice)
        chain = _chain(dice, provider)
        most = chain.config.budget.max_calls
        assert most is not None
        for _ in range(RUNS):
            provider.asked = 0
            provider.cancel_at = dice.randint(1, 9) if dice.random() < 0.15 else 0
            text = TEXT if dice.random() < 0.7 else ""
            run = (await chain.start("Name the day.", text=text)).run
            for _ in range(3):
                run = await _work(chain, provider, run.run_id)
                where = f"chunk {chunk}, chain {number}: {chain.config}"
                assert provider.asked <= most, where
                assert run.usage.model_calls == provider.asked, where
                assert run.status in {"done", "failed", "cancelled"}, where
                seen |= {run.status, run.stop_reason or ""}
                if run.status == "done":
                    break
    ends = {"done", "failed", "cancelled", "error", "passed", "max_iterations", "budget_calls"}
    assert ends <= seen, "the dice have left something out"


@dataclass
class Biller:
    """Bills by the token, as much as it may: no more than was set aside for the call."""

    dice: random.Random
    budget: Budget
    tokens: int = 0
    cost: float = 0.0

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        dice, wanted = self.dice, info.model_request_parameters
        asked = quote(Priced(self.answer), messages, info.model_settings, wanted, self.budget)
        usage = RequestUsage(input_tokens=dice.randint(0, asked.input_tokens))
        self._bill(usage)  # what was read is owed, also when nobody waits for the answer
        for _ in range(dice.randrange(3)):
            await checkpoint()
        most = (info.model_settings or {}).get("max_tokens", 0)
        written = dice.choice((most, dice.randint(0, most)))
        self._bill(RequestUsage(output_tokens=written))
        verdict = dice.choice(("accept", "revise"))
        text = TextPart(f"{TEXT} Version {dice.randrange(50)}.")
        return ModelResponse(
            [ToolCallPart("answer", {"verdict": verdict})] if info.output_tools else [text],
            usage=usage + RequestUsage(output_tokens=written),
            provider_name="openai",
            finish_reason="length" if written == most and dice.random() < 0.5 else "stop",
        )

    def _bill(self, usage: RequestUsage) -> None:
        bill = ModelResponse([], usage=usage, model_name="gpt-5", provider_name="openai")
        self.tokens += usage.total_tokens
        self.cost += float(bill.cost().total_price)


class Priced(FunctionModel):
    """A model that has the name, and so the price, of a known one."""

    def __init__(self, answer: Callable[[list[ModelMessage], AgentInfo], Any]) -> None:
        super().__init__(answer, model_name="gpt-5")

    @property
    def system(self) -> str:
        return "openai"


@pytest.mark.slow
@pytest.mark.parametrize("chains", [16, pytest.param(100, marks=pytest.mark.servers)])
@pytest.mark.parametrize("limit", ["max_tokens", "max_cost_usd"])
async def test_no_run_is_billed_for_more_than_it_may_spend(
    limit: str, chains: int, quiet: None
) -> None:
    dice = random.Random(limit)  # noqa: S311 - not a secret
    ends: Counter[str | None] = Counter()
    exact = 0
    for number in range(chains):
        most = dice.randint(0, 40_000) if limit == "max_tokens" else dice.uniform(0, 0.3)
        budget = Budget.model_validate({limit: most})
        biller = Biller(dice, budget)
        chain = Chain(
            model=Priced(biller.answer),
            critics=dice.choices(CRITICS, k=dice.randint(1, 2)),
            policy=dice.choice(POLICIES),
            max_iterations=dice.randint(0, 2),
            budget=budget,
            breakers=Breakers(threshold=1000),
        )
        for _ in range(5):
            biller.tokens, biller.cost = 0, 0.0
            result = await chain.run("Name the day.", text=TEXT if dice.random() < 0.7 else "")
            if result.status == "failed":
                result = await chain.resume(result.run_id)
            where = f"{number}: {chain.config}"
            spent = biller.tokens if limit == "max_tokens" else biller.cost
            assert spent <= most, where
            usage = result.usage
            # A call that was given up is charged with all that it may have taken.
            tokens = usage.input_tokens + usage.output_tokens
            assert tokens >= biller.tokens, where
            exact += tokens == biller.tokens
            if usage.cost_usd is not None:
                assert usage.cost_usd >= biller.cost - 1e-9, where
                if tokens == biller.tokens:
                    assert usage.cost_usd == pytest.approx(biller.cost), where
            ends[result.stop_reason] += 1
    assert exact > 2 * chains, "most runs give no call up"
    spent_up = ends[f"budget_{limit.split('_')[1]}"]
    assert min(spent_up, ends.total() - spent_up) > 0.4 * chains, ends
