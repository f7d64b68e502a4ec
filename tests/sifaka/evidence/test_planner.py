"""Plans: queries to search for, and criteria for the documents found."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.errors import ConfigurationError, ModelProviderError, StorageError
from sifaka.evidence.pipeline import LONGEST_QUERY, keyword_queries, plan
from sifaka.record.usage import Budget
from tests.sifaka.critics.scripted_judge import Answer, ScriptedJudge, in_turn
from tests.sifaka.evidence.recording import recording

pytestmark = pytest.mark.anyio

QUESTION = "How tall is the Eiffel Tower in Paris?"


def criterion(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "type": "topic", "name": name, "description": f"About {name}.", **fields}


def answer(queries: Any = ("one", "two"), criteria: Any = None) -> Answer:
    return {
        "queries": queries if isinstance(queries, str) else list(queries),
        "criteria": [criterion("height")] if criteria is None else criteria,
    }


async def test_a_model_plans_queries_and_weighted_criteria() -> None:
    given = [
        criterion("height", weight=60),
        criterion("year", type="Time ", weight=40),
    ]
    judge = ScriptedJudge(answer(["eiffel tower height", "paris tower metres"], given))
    made = await plan(f"  {QUESTION}\n", judge.model)
    assert made.question == QUESTION
    assert made.queries == ("eiffel tower height", "paris tower metres")
    assert [(c.id, c.weight, c.is_about_time) for c in made.criteria] == [
        ("height", 0.6, False),
        ("year", 0.4, True),
    ]
    assert (made.degraded, made.notes, made.usage.model_calls) == (None, (), 1)


async def test_without_a_model_it_is_the_query_itself_its_halves_and_one_topic_criterion() -> None:
    made = await plan(QUESTION, None)
    assert made.queries == (QUESTION, "tall Eiffel", "Tower Paris")
    assert [(c.type, c.weight) for c in made.criteria] == [("topic", 1.0)]
    assert QUESTION in made.criteria[0].description
    assert made.degraded == "planned from the question's words: there is no model"


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("one two three four", ("one two three four", "one two", "three four")),
        ("Eiffel height", ("Eiffel height", "Eiffel", "height")),
        ("Is it?", ("Is it?", "Is", "it")),
        ("Eiffel", ("Eiffel",)),
        ("???", ("???",)),
    ],
)
async def test_halves_are_those_of_the_telling_words(
    question: str, queries: tuple[str, ...]
) -> None:
    assert (await plan(question, None)).queries == queries


@given(st.text(min_size=1, max_size=800).filter(str.strip))
def test_any_question_has_a_keyword_plan(question: str) -> None:
    queries = keyword_queries(question.strip())
    assert 1 <= len(queries) <= 3
    assert all(query.strip() and len(query) <= LONGEST_QUERY for query in queries)


@pytest.mark.parametrize("question", ["", "  \n", "\t"])
@pytest.mark.parametrize("with_model", [True, False])
async def test_an_empty_question_is_refused_and_no_model_is_asked(
    question: str, with_model: bool
) -> None:
    judge = ScriptedJudge(answer())
    with pytest.raises(ConfigurationError, match="the question is empty"):
        await plan(question, judge.model if with_model else None)
    assert judge.calls == 0


@pytest.mark.parametrize("question", ["a\0b", "half \ud800", "x" * 10_001])
async def test_a_question_that_is_no_text_or_too_long_is_refused(question: str) -> None:
    with pytest.raises(ConfigurationError, match="question"):
        await plan(question, None)


async def test_more_than_four_queries_and_criteria_are_cut_to_the_first_four() -> None:
    given = [criterion(f"c{n}", weight=1) for n in range(6)]
    judge = ScriptedJudge(answer([f"query {n}" for n in range(6)], given))
    made = await plan(QUESTION, judge.model)
    assert made.queries == ("query 0", "query 1", "query 2", "query 3")
    assert [each.weight for each in made.criteria] == [0.25] * 4
    assert made.notes == (
        "of 6 queries the first 4 were taken",
        "of 6 criteria the first 4 were taken",
    )


@pytest.mark.parametrize("queries", [(), ("",), (" ", "\n")])
async def test_a_plan_without_queries_takes_the_questions_words_and_says_so(queries: Any) -> None:
    made = await plan(QUESTION, ScriptedJudge(answer(queries)).model)
    assert made.queries == (QUESTION, "tall Eiffel")
    assert made.notes == ("the plan had no queries; the question's words were added",)
    assert made.degraded is None


async def test_one_query_in_several_spellings_is_one() -> None:
    judge = ScriptedJudge(answer(["Eiffel  Height", "eiffel height", " EIFFEL HEIGHT"]))
    made = await plan(QUESTION, judge.model)
    assert made.queries == ("Eiffel Height", QUESTION)


async def test_a_query_that_is_too_long_is_cut_at_the_end_of_a_word() -> None:
    judge = ScriptedJudge(answer(["tower " * 100, "two"]))
    made = await plan(QUESTION, judge.model)
    assert len(made.queries[0]) <= LONGEST_QUERY
    assert made.queries[0].endswith("tower")


@pytest.mark.parametrize("criteria", [[], [{"id": "a"}], [criterion("", description=" ")]])
async def test_a_plan_without_criteria_takes_the_topic_and_says_so(criteria: Any) -> None:
    made = await plan(QUESTION, ScriptedJudge(answer(criteria=criteria)).model)
    assert [(each.id, each.weight) for each in made.criteria] == [("topic", 1.0)]
    assert made.notes == ("the plan had no criteria; being about the question was added",)


async def test_duplicate_and_empty_ids_are_told_apart() -> None:
    given = [
        criterion("a", weight=1),
        criterion("A", weight=1),
        criterion("x", id=" ", weight=1),
        criterion("a", weight=1),
    ]
    made = await plan(QUESTION, ScriptedJudge(answer(criteria=given)).model)
    assert [each.id for each in made.criteria] == ["a", "A-2", "c3", "a-3"]
    assert made.notes == ("two criteria had the id 'A'", "two criteria had the id 'a'")


async def test_a_plan_of_time_alone_is_given_a_topic() -> None:
    given = [criterion(f"year {n}", type=" TIME", weight=30) for n in range(4)]
    made = await plan(QUESTION, ScriptedJudge(answer(criteria=given)).model)
    assert [each.is_about_time for each in made.criteria] == [False, True, True, True]
    assert [each.weight for each in made.criteria] == [0.25] * 4
    assert made.notes == (
        "the plan had only criteria about time; being about the question was added",
    )


@pytest.mark.parametrize("weight", [-5, 0, "much", None, True, 1e999, {}])
async def test_weights_that_are_no_numbers_count_the_same(weight: Any) -> None:
    given = [criterion("a", weight=weight), criterion("b", weight=weight)]
    made = await plan(QUESTION, ScriptedJudge(answer(criteria=given)).model)
    assert [each.weight for each in made.criteria] == [0.5, 0.5]


async def test_a_plan_that_is_unreadable_is_asked_for_once_more() -> None:
    judge = ScriptedJudge(in_turn("I think we should search.", answer()))
    assert (await plan(QUESTION, judge.model)).queries == ("one", "two")
    assert judge.calls == 2


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I think we should search.", "not in the form asked for"),
        ({"queries": ["one"]}, "not in the form asked for"),
        (ModelProviderError("the model is down", code="rejected"), "the model is down"),
        (ZeroDivisionError("secret"), "planned from the question's words: "),
    ],
)
async def test_when_no_plan_comes_of_it_the_keyword_plan_is_taken_and_says_so(
    said: Any, reason: str
) -> None:
    made = await plan(QUESTION, ScriptedJudge(said).model)
    assert made.queries == (QUESTION, "tall Eiffel", "Tower Paris")
    assert reason in (made.degraded or "")
    assert "secret" not in (made.degraded or "")


async def test_a_spent_budget_gives_the_keyword_plan() -> None:
    judge = ScriptedJudge(answer())
    with recording(budget=Budget(max_calls=0)):
        made = await plan(QUESTION, judge.model)
    assert judge.calls == 0
    assert "budget of calls is spent" in (made.degraded or "")


async def test_a_run_that_cannot_be_recorded_breaks_off() -> None:
    with pytest.raises(StorageError):
        await plan(QUESTION, ScriptedJudge(StorageError("the disk is full")).model)


async def test_a_resume_plans_nothing_again() -> None:
    with recording() as made:
        before = await plan(QUESTION, ScriptedJudge(answer()).model)
    judge = ScriptedJudge(answer(["other", "words"]))
    with recording(made):
        assert await plan(QUESTION, judge.model) == before
    assert judge.calls == 0
