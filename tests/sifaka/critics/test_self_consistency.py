"""Self-Consistency: what more than half of the samples agree on."""

from typing import Any

import pytest

from sifaka.critics import SelfConsistencyCritic
from sifaka.errors import ModelProviderError, StorageError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from tests.sifaka.critics.scripted_judge import Answer, ScriptedJudge, in_turn

pytestmark = pytest.mark.anyio

TEXT = "The tower is 300 metres high. It was built in 1889 by many hands."
HEIGHT = [
    {"quote": "300 metres", "message": "The height is wrong.", "category": "facts"},
    {"quote": "is 300 metres high", "message": "It is 330 metres.", "category": "Facts"},
    {"quote": "300 metres high", "message": "Wrong number!", "category": "facts", "severity": 5},
]
HANDS = {"quote": "many hands", "message": "Say who built it.", "category": "content"}


def says(verdict: str, *issues: dict[str, Any], **fields: Any) -> Answer:
    return {"verdict": verdict, "issues": list(issues), **fields}


async def review(*answers: Answer, **options: Any) -> CriticFeedback:
    critic = SelfConsistencyCritic(n=len(answers), **options)
    critic = critic.bind(ScriptedJudge(in_turn(*answers)).binding)
    return await critic.critique(Thought(text=TEXT))


async def test_the_same_issue_in_other_words_has_a_majority() -> None:
    feedback = await review(
        says("revise", HEIGHT[0]), says("revise", HEIGHT[1], HANDS), says("accept", HEIGHT[2])
    )
    (issue,) = feedback.issues
    assert (issue.support, issue.severity, issue.message) == (3, 5, "Wrong number!")
    assert feedback.verdict == "revise"
    assert feedback.confidence == pytest.approx(2 / 3)
    details = feedback.model_dump()["details"]
    assert details["votes"] == {"accept": 1, "revise": 2}
    assert details["agreement"] == "2/3"
    assert [(d["message"], d["support"]) for d in details["disagreements"]] == [
        ("Say who built it.", 1)
    ]


async def test_half_of_the_samples_are_no_majority() -> None:
    feedback = await review(says("revise", HANDS), says("accept"))
    assert feedback.verdict == "accept"
    assert feedback.issues == ()
    assert len(feedback.model_dump()["details"]["disagreements"]) == 1


async def test_scores_are_means_and_suggestions_need_a_majority() -> None:
    feedback = await review(
        says("accept", scores={"clear": 0.4}, suggestions=["Add a picture of the tower."]),
        says("accept", scores={"clear": 0.6}, suggestions=["Add a picture of the tower"]),
        says("accept", scores={"task": 1.0}, suggestions=["Translate it."]),
    )
    assert dict(feedback.scores) == {"clear": 0.5, "task": 1.0}
    assert feedback.suggestions == ("Add a picture of the tower.",)


async def test_a_sample_that_fails_has_no_vote() -> None:
    failure = ModelProviderError("no answer in time", code="timeout_for_good")
    feedback = await review(says("revise", HEIGHT[0]), failure, says("revise", HEIGHT[1]))
    assert feedback.status == "ok"
    assert feedback.model_dump()["details"]["answered"] == 2
    assert [issue.support for issue in feedback.issues] == [2]
    assert feedback.degraded == ("sample 1: no answer in time",)


async def test_when_every_sample_fails_it_abstains() -> None:
    failure = ModelProviderError("the account's quota is used up", code="quota")
    feedback = await review(failure, failure)
    assert (feedback.status, feedback.verdict) == ("abstained", None)
    assert "quota" in (feedback.reason or "")


async def test_a_failing_store_is_no_failing_sample() -> None:
    with pytest.raises(StorageError):
        await review(says("accept"), StorageError("the disk is full"))


async def test_samples_are_drawn_at_a_temperature() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    critic = SelfConsistencyCritic(temperature=0.9).bind(judge.binding)
    await critic.critique(Thought(text=TEXT))
    assert [asked.settings["temperature"] for asked in judge.asked] == [0.9] * 3
    assert len({asked.question for asked in judge.asked}) == 1
