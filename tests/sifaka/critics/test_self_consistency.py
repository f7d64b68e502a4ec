"""Self-Consistency: what more than half of the samples agree on."""

from typing import Any

import pytest

from sifaka.critics import SelfConsistencyCritic
from sifaka.errors import ModelProviderError, StorageError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from tests.sifaka.critics.scripted_judge import Answer, ScriptedJudge

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


def judge_of(*answers: Answer, same: Answer) -> ScriptedJudge:
    """Gives the answers in turn, and then says which findings are the same."""
    return ScriptedJudge(lambda asked: same if "same" in asked.fields else answers[asked.number])


async def review(*answers: Answer, same: Answer = "no form", **options: Any) -> CriticFeedback:
    """The feedback of so many samples; without `same` the findings are joined by their words."""
    critic = SelfConsistencyCritic(n=len(answers), **options)
    critic = critic.bind(judge_of(*answers, same=same).binding)
    return await critic.critique(Thought(text=TEXT))


def lists(*ids: str) -> Answer:
    return {"same": [each.split() for each in ids]}


AGREE = (
    says("revise", {"quote": "The tower", "message": "Which one is meant?"}),
    says("revise", HANDS, {"quote": "It", "message": "Name the building.", "severity": 4}),
    says("revise", suggestions=["Readers in Blackpool will think of theirs."]),
)


async def test_reviewers_who_agree_in_other_words_keep_their_point() -> None:
    feedback = await review(*AGREE, same=lists("f1 f3 f4"))
    (issue,) = feedback.issues
    assert (issue.message, issue.quote, issue.support) == ("Name the building.", "It", 3)
    assert feedback.suggestions == ()
    assert (feedback.usage.model_calls, feedback.degraded) == (4, ())
    details = feedback.model_dump()["details"]
    assert [d["message"] for d in details["disagreements"]] == ["Say who built it."]


async def test_an_agreed_suggestion_stays_one() -> None:
    answers = [says("revise", suggestions=[each]) for each in ("Add a map.", "Show where it is.")]
    feedback = await review(*answers, same=lists("f1 f2"))
    assert (feedback.issues, feedback.suggestions) == ((), ("Add a map.",))


async def test_only_reviews_count_and_each_finding_once() -> None:
    twice = says("revise", HANDS, {"quote": "by many", "message": "Whose hands?"})
    feedback = await review(twice, says("revise", HEIGHT[0]), same=lists("f1 f2", "f2 f3", "f9"))
    assert feedback.issues == ()
    told = feedback.model_dump()["details"]["disagreements"]
    assert [(d["message"], d["support"]) for d in told] == [
        ("The height is wrong.", 1),
        ("Say who built it.", 1),
    ]


@pytest.mark.parametrize("same", ["no form", ModelProviderError("refused", error_code="rejected")])
async def test_without_a_usable_answer_findings_are_joined_by_their_words(same: Answer) -> None:
    feedback = await review(says("revise", HEIGHT[0]), says("revise", HEIGHT[1]), same=same)
    assert [issue.support for issue in feedback.issues] == [2]
    (line,) = feedback.degraded
    assert line.startswith("joined by their words: ")


async def test_nothing_to_join_costs_no_call() -> None:
    for answers in ([says("accept")] * 2, [says("revise", HANDS, HEIGHT[0]), says("accept")]):
        feedback = await review(*answers)
        assert (feedback.usage.model_calls, feedback.degraded) == (2, ())


async def test_the_findings_are_shown_as_material_and_nothing_else() -> None:
    judge = judge_of(*AGREE, same=lists())
    await SelfConsistencyCritic().bind(judge.binding).critique(Thought(prompt="T", text=TEXT))
    question = judge.asked[-1].question
    assert question.startswith("<findings id=")
    assert "f3 (review 2): 'It': Name the building.\nf4 (review 3): Readers in" in question
    assert TEXT not in question


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
    failure = ModelProviderError("no answer in time", error_code="timeout_for_good")
    feedback = await review(says("revise", HEIGHT[0]), failure, says("revise", HEIGHT[1]))
    assert feedback.status == "ok"
    assert feedback.model_dump()["details"]["answered"] == 2
    assert [issue.support for issue in feedback.issues] == [2]
    assert feedback.degraded[0] == "review 2: no answer in time"


async def test_a_failing_store_is_no_failing_sample() -> None:
    with pytest.raises(StorageError):
        await review(says("accept"), StorageError("the disk is full"))


async def test_samples_are_drawn_at_a_temperature() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    critic = SelfConsistencyCritic(temperature=0.9).bind(judge.binding)
    await critic.critique(Thought(text=TEXT))
    assert [asked.settings["temperature"] for asked in judge.asked] == [0.9] * 3
    assert len({asked.question for asked in judge.asked}) == 3, "no request is made twice"
    asked = {each.question.partition("This is review")[0] for each in judge.asked}
    assert len(asked) == 1, "they differ at the end, after what providers can cache"
