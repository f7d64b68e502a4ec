"""Critics that ask several times: what becomes of it when some or all calls fail."""

import pytest

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.critics import (
    ConstitutionalCritic,
    MetaRewardingCritic,
    NCriticsCritic,
    SelfConsistencyCritic,
)
from sifaka.critics.judge import JudgingCritic
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget, Usage
from tests.sifaka.critics.scripted_judge import Answer, Asked, Script, ScriptedJudge

pytestmark = pytest.mark.anyio

ACCEPT = {"verdict": "accept"}
PANELS = [
    ConstitutionalCritic(),
    ConstitutionalCritic(mode="sequential"),
    MetaRewardingCritic(),
    NCriticsCritic(),
    SelfConsistencyCritic(),
]


async def opinion(critic: JudgingCritic, script: Script | Answer) -> CriticFeedback:
    judge = ScriptedJudge(script)
    return await critic.bind(judge.binding).critique(Thought(text="A text."))


def limited(retry_after: float | None = None) -> ModelProviderError:
    return ModelProviderError("too many", code="rate_limited_for_good", retry_after=retry_after)


@pytest.mark.parametrize("critic", PANELS, ids=lambda c: f"{c.name} {getattr(c, 'mode', '')}")
async def test_what_all_calls_failed_with_is_in_the_abstention(critic: JudgingCritic) -> None:
    feedback = await opinion(critic, lambda asked: limited(10.0 + asked.number % 2))
    assert feedback.status == "abstained"
    assert dict(feedback.details) == {"code": "rate_limited_for_good", "retry_after": 11.0}


@pytest.mark.parametrize("critic", PANELS, ids=lambda c: f"{c.name} {getattr(c, 'mode', '')}")
async def test_calls_that_fail_differently_share_no_code(critic: JudgingCritic) -> None:
    refused = ModelProviderError("refused", code="rejected")
    feedback = await opinion(critic, lambda asked: limited() if asked.number else refused)
    assert feedback.status == "abstained"
    assert dict(feedback.details) == {}


@pytest.mark.parametrize("critic", [NCriticsCritic(), SelfConsistencyCritic(n=4)])
async def test_a_repair_without_room_costs_no_other_its_answer(critic: JudgingCritic) -> None:
    judge = ScriptedJudge(lambda asked: ACCEPT if asked.number else "no form")
    calls = Calls(ledger=Ledger(Budget(max_calls=4), Usage()))
    with calls.active():
        feedback = await critic.bind(judge.binding).critique(Thought(text="A text."))
    assert (feedback.verdict, judge.calls, feedback.usage.model_calls) == ("accept", 4, 3)
    (line,) = feedback.degraded
    assert "the run's budget of calls is spent" in line


async def test_principles_judged_before_the_budget_was_spent_count() -> None:
    judge = ScriptedJudge(ACCEPT)
    calls = Calls(ledger=Ledger(Budget(max_calls=4), Usage()))
    with calls.active():
        critic = ConstitutionalCritic(mode="sequential").bind(judge.binding)
        feedback = await critic.critique(Thought(text="A text."))
    assert (feedback.verdict, judge.calls, len(feedback.degraded)) == ("accept", 4, 2)


async def test_too_few_principles_judged_for_the_budget_names_the_limit() -> None:
    calls = Calls(ledger=Ledger(Budget(max_calls=3), Usage()))
    with calls.active():
        critic = ConstitutionalCritic(mode="sequential").bind(ScriptedJudge(ACCEPT).binding)
        feedback = await critic.critique(Thought(text="A text."))
    assert feedback.status == "abstained"
    assert dict(feedback.details) == {"limit": "calls"}


async def test_when_nobody_answered_the_spent_budget_is_the_error() -> None:
    def script(asked: Asked) -> Answer:
        return "no form" if asked.number < 2 else ModelProviderError("refused", code="rejected")

    calls = Calls(ledger=Ledger(Budget(max_calls=3), Usage()))
    critic = SelfConsistencyCritic().bind(ScriptedJudge(script).binding)
    with calls.active(), pytest.raises(BudgetExceeded):
        await critic.critique(Thought(text="A text."))
