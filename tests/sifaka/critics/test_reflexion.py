"""Reflexion: a lesson after a failure, and only then."""

from types import MappingProxyType
from typing import Any

import pytest

from sifaka.chain import Chain
from sifaka.critics import MEMORY, ReflexionCritic
from sifaka.models.prompt import LAST
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedModel
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge

pytestmark = pytest.mark.anyio

LESSON = "Count the words before you answer."


def validated(**results: bool) -> Thought:
    thought = Thought(prompt="Say it in three words.", text="one two three four")
    for name, passed in results.items():
        told, required = f"{name} says so", name != "advice"
        result = ValidationResult(passed=passed, validator=name, message=told, required=required)
        thought = thought.add_validation_result(name, result)
    return thought


def failing(asked: Asked) -> Answer:
    if "reflection" in asked.fields:
        return {"reflection": LESSON}
    issue = {"quote": "four", "message": "One word too many."}
    return {"verdict": "revise", "issues": [issue], "suggestions": ["Drop a word."]}


@pytest.mark.parametrize("results", [{"length": True}, {"length": True, "advice": False}], ids=str)
async def test_passed_validators_are_the_verdict_and_failed_advice_is_no_failure(
    results: dict[str, bool],
) -> None:
    judge = ScriptedJudge(failing)
    feedback = await ReflexionCritic().bind(judge.binding).critique(validated(**results))
    assert (feedback.verdict, feedback.reflection, judge.calls) == ("accept", None, 0)


async def test_failed_validators_are_reflected_upon() -> None:
    judge = ScriptedJudge(failing)
    thought = validated(length=False, terms=True, advice=False)
    feedback = await ReflexionCritic().bind(judge.binding).critique(thought)
    assert (feedback.verdict, feedback.reflection) == ("revise", LESSON)
    assert (feedback.issues, feedback.suggestions) == ((), ())
    (asked,) = judge.asked
    failures = asked.question.partition("<failures ")[2]
    assert "length says so" in failures
    assert "terms says so" not in failures
    assert "advice says so" not in failures


async def test_without_validators_the_model_evaluates_before_it_reflects() -> None:
    judge = ScriptedJudge(failing)
    feedback = await ReflexionCritic().bind(judge.binding).critique(Thought(text="one four"))
    assert (feedback.verdict, feedback.reflection) == ("revise", LESSON)
    assert [issue.message for issue in feedback.issues] == ["One word too many."]
    assert LESSON not in feedback.suggestions
    assert "One word too many." in judge.asked[1].question


async def test_a_success_teaches_nothing() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    feedback = await ReflexionCritic().bind(judge.binding).critique(Thought(text="one"))
    assert (feedback.verdict, feedback.reflection, judge.calls) == ("accept", None, 1)


async def test_only_the_last_lessons_are_remembered() -> None:
    judge = ScriptedJudge(failing)
    lessons = tuple(f"lesson number {n}" for n in range(5))
    thought = validated(length=False).model_copy(update={"lessons": lessons})
    await ReflexionCritic().bind(judge.binding).critique(thought)
    told = [lesson for lesson in lessons if lesson in judge.asked[0].question]
    assert told == list(lessons[-MEMORY:])
    assert MEMORY == 3


async def test_a_lesson_is_of_limited_length() -> None:
    judge = ScriptedJudge({"reflection": "again and " * 1_000})
    feedback = await ReflexionCritic().bind(judge.binding).critique(validated(length=False))
    assert feedback.reflection is not None
    assert len(feedback.reflection) == 1_000


@pytest.mark.parametrize("thought", [validated(length=False), Thought(text="one four")])
async def test_nothing_is_learnt_from_a_version_that_none_can_follow(thought: Thought) -> None:
    judge = ScriptedJudge(failing)
    last = thought.model_copy(update={"metadata": MappingProxyType({LAST: True})})
    feedback = await ReflexionCritic().bind(judge.binding).critique(last)
    assert (feedback.verdict, feedback.reflection) == ("revise", None)
    assert not any("reflection" in asked.fields for asked in judge.asked)


@pytest.mark.parametrize(
    "settings", [{}, {"policy": "judged"}, {"policy": "best_of_n", "width": 2}], ids=str
)
async def test_a_run_reflects_once_less_than_it_reviews(settings: dict[str, Any]) -> None:
    judge = ScriptedJudge(failing)
    lines = [f"{n} two three four" for n in range(4)]
    result = await Chain(
        model=ScriptedModel(lines=lines),
        critics=["reflexion"],
        judge_model=judge.model,
        look_back=0,
        max_iterations=2,
        patience=None,
        **settings,
    ).run(text="one two three four")
    assert result.stop_reason in {"max_iterations", "issues_left"}
    width = settings.get("width", 1)
    said = [t.critic_feedback[0] for t in result.run.thoughts if t.critic_feedback]
    taught = [feedback.reflection is not None for feedback in said]
    assert taught == [True] * (1 + width) + [False] * width


@pytest.mark.parametrize("settings", [{"max_iterations": 0}, {"budget": {"max_calls": 2}}], ids=str)
async def test_a_run_reflects_only_where_there_is_room_for_another_version(
    settings: dict[str, Any],
) -> None:
    judge = ScriptedJudge(failing)
    writer = ScriptedModel(lines=["1 two three four"])
    chain = Chain(model=writer, critics=["reflexion"], judge_model=judge.model, **settings)
    result = await chain.run(text="one two three four")
    said = [f for t in result.run.thoughts for f in t.critic_feedback]
    assert said
    assert not any(feedback.reflection for feedback in said)
