"""The model calls of each technique, and those of them that wait for one another."""

from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.critics import (
    ConstitutionalCritic,
    MetaRewardingCritic,
    NCriticsCritic,
    PromptCritic,
    ReflexionCritic,
    SelfConsistencyCritic,
    SelfRAGCritic,
    SelfRefineCritic,
)
from sifaka.critics.judge import JudgingCritic
from sifaka.errors import BudgetExceeded
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Document, Thought
from sifaka.record.usage import Budget, Usage
from tests.sifaka.critics.scripted_judge import Asked, ScriptedJudge

pytestmark = pytest.mark.anyio

TEXT = "The tower is 300 metres high. It was built in 1889."
DOCUMENTS = (
    Document(text="The tower is 330 metres high.", title="Heights"),
    Document(text="The tower was built from 1887 to 1889.", title="History"),
)
CLAIMS = [
    {"quote": "The tower is 300 metres high", "claim": "The tower is 300 metres high.", "need": 1},
    {"quote": "built in 1889", "claim": "The tower was built in 1889.", "need": 0.9},
    {"quote": "It", "claim": "It is a tower.", "need": 0.1},
]
SUPPORTED = {
    "passages": [{"passage": 1, "relevant": 1, "full": 1, "partial": 0, "none": 0}],
    "usefulness": 5,
}


def revising(asked: Asked) -> dict[str, Any]:
    """An answer to every form there is; opinions ask for a revision."""
    if "claims" in asked.fields:
        return {"claims": CLAIMS}
    if "passages" in asked.fields:
        return SUPPORTED
    if "same" in asked.fields:
        return {"same": []}
    if "reflection" in asked.fields:
        return {"reflection": "Look the height up first."}
    if "verdict" not in asked.fields:
        return {"better": "first"}
    return {"verdict": "revise", "issues": [{"quote": "300 metres", "message": "Wrong height."}]}


def accepting(asked: Asked) -> dict[str, Any]:
    answer = revising(asked)
    return {"verdict": "accept"} if "verdict" in answer else answer


@dataclass(frozen=True)
class Technique:
    critic: JudgingCritic
    calls: int
    depth: int
    script: Any = revising
    thought: Thought = field(default_factory=lambda: Thought(prompt="Describe it.", text=TEXT))


def validated(*, passed: bool) -> Thought:
    result = ValidationResult(passed=passed, validator="length", message="too long")
    return Thought(text=TEXT).add_validation_result("length", result)


TECHNIQUES = {
    "self_refine": Technique(SelfRefineCritic(), 1, 1),
    "prompt": Technique(PromptCritic(rubric="Is it right?"), 1, 1),
    "reflexion, validators passed": Technique(
        ReflexionCritic(), 0, 0, thought=validated(passed=True)
    ),
    "reflexion, validators failed": Technique(
        ReflexionCritic(), 1, 1, thought=validated(passed=False)
    ),
    "reflexion, the model fails it": Technique(ReflexionCritic(), 2, 2),
    "reflexion, the model passes it": Technique(ReflexionCritic(), 1, 1, script=accepting),
    "constitutional": Technique(ConstitutionalCritic(), 6, 1),
    "constitutional, drawn": Technique(ConstitutionalCritic(draw=2), 2, 1),
    "self_rag": Technique(
        SelfRAGCritic(), 1 + 2, 2, thought=Thought(text=TEXT, post_generation_context=DOCUMENTS)
    ),
    "self_rag, bounded": Technique(
        SelfRAGCritic(max_claims=1, max_passages=1),
        1 + 1,
        2,
        thought=Thought(text=TEXT, post_generation_context=DOCUMENTS),
    ),
    "self_rag, no documents": Technique(SelfRAGCritic(), 0, 0),
    "self_consistency": Technique(SelfConsistencyCritic(), 3 + 1, 2),
    "self_consistency, 5": Technique(SelfConsistencyCritic(n=5), 5 + 1, 2),
    "self_consistency, all content": Technique(SelfConsistencyCritic(), 3, 1, script=accepting),
    "meta_rewarding": Technique(MetaRewardingCritic(), 3 + 3 * 2, 2),
    "meta_rewarding, 4": Technique(MetaRewardingCritic(n=4), 4 + 4 * 3, 2),
    "n_critics": Technique(NCriticsCritic(), 4, 1),
    "n_critics, 2 roles": Technique(NCriticsCritic(roles=("a sailor", "a cook")), 2, 1),
}


def surroundings(**limits: Any) -> Calls:
    ledger = Ledger(Budget(**limits), Usage())
    return Calls(ledger=ledger, limiter=anyio.Semaphore(100))


@pytest.mark.parametrize("case", TECHNIQUES)
async def test_a_technique_takes_the_calls_of_its_paper(case: str) -> None:
    technique = TECHNIQUES[case]
    judge = ScriptedJudge(technique.script)
    calls = surroundings()
    with calls.active():
        feedback = await technique.critic.bind(judge.binding).critique(technique.thought)
    assert (judge.calls, judge.depth) == (technique.calls, technique.depth)
    if case != "self_rag, no documents":  # that is no opinion
        assert technique.critic.calls() <= technique.calls, "no more is promised than is needed"
    assert calls.ledger.spent.model_calls == technique.calls
    assert feedback.usage.model_calls == technique.calls, "the feedback tells what it has cost"
    assert feedback.critic == technique.critic.name


@pytest.mark.parametrize(
    "critic",
    [
        ConstitutionalCritic(),
        SelfConsistencyCritic(n=4),
        NCriticsCritic(),
        MetaRewardingCritic(n=2),
    ],
)
async def test_parallel_calls_are_all_paid_for_or_none_is_made(critic: JudgingCritic) -> None:
    judge = ScriptedJudge(revising)
    critic = critic.bind(judge.binding)
    calls = surroundings(max_calls=critic.calls() - 1)
    with calls.active(), pytest.raises(BudgetExceeded):
        await critic.critique(Thought(text=TEXT))
    assert judge.calls == 0
    enough = surroundings(max_calls=critic.calls())
    with enough.active():
        feedback = await critic.critique(Thought(text=TEXT))
    assert feedback.status == "ok"
    assert judge.calls == critic.calls()


@pytest.mark.parametrize("case", TECHNIQUES)
async def test_the_judge_sees_neither_the_author_nor_what_was_said_before(case: str) -> None:
    technique = TECHNIQUES[case]
    judge = ScriptedJudge(technique.script)
    before = SelfRefineCritic(name="gossip").bind(
        ScriptedJudge({"verdict": "revise", "suggestions": ["SAID BEFORE"]}).binding
    )
    thought = technique.thought.model_copy(update={"author": "WRITTEN BY"})
    thought = thought.add_critic_feedback(await before.critique(thought))
    await technique.critic.bind(judge.binding).critique(thought)
    for asked in judge.asked:
        assert "SAID BEFORE" not in asked.question
        assert "WRITTEN BY" not in asked.question
