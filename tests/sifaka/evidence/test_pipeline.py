"""Evidence for a question: plans of queries and criteria, and the way to the classes."""

import asyncio
import re
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.errors import ConfigurationError, ModelProviderError, SourceError, StorageError
from sifaka.evidence.model import EvidenceProgress, EvidenceResult, Searched, SearchPlan, Verified
from sifaka.evidence.pipeline import (
    LONGEST_QUERY,
    EvidencePipeline,
    answer_each,
    keyword_queries,
    plan,
)
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.models.provider import provider_model
from sifaka.record.usage import Budget
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge
from tests.sifaka.evidence.recording import recording
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, page

pytestmark = pytest.mark.anyio

QUESTION = "How high is the harbour tower?"
TOWER = page("the harbour tower", "The harbour tower is 80 metres high. It was built in 1990.")
OTHER = page("the harbour bridge", "The harbour bridge is 20 metres high, less than the tower.")
PORT = page("the port", "The port has a harbour and many ships.")
WIKI = InProcessAdapter([PORT, OTHER, TOWER], name="wiki")
DOWN = SourceError("the index cannot be reached", adapter="index")
PLAN = {
    "queries": ["harbour tower height", "harbour tower metres"],
    "criteria": [
        {"id": "height", "description": "How high the tower is.", "weight": 60},
        {"id": "year", "type": "time", "description": "Something of 1990.", "weight": 40},
    ],
}


def reader(asked: Asked) -> Answer:
    """Plans, and judges by what stands in the document alone."""
    if "queries" in asked.fields:
        return PLAN
    text = asked.question.partition("<document")[2]
    height = re.search(r"The harbour tower is \d+ metres high", text)
    year = re.search(r"built in 1990", text)
    some = re.search(r"less than the tower", text)
    return {
        "judgements": [
            {
                "criterion": "height",
                "judgement": "support" if height else "somewhat_support" if some else "reject",
                "quotes": [found.group() for found in (height, some) if found],
            },
            {
                "criterion": "year",
                "judgement": "support" if year else "insufficient_information",
                "quotes": ["It was built in 1990"] if year else [],
            },
        ]
    }


def classes(result: EvidenceResult) -> list[tuple[str, str, float]]:
    return [
        (each.document.title.removeprefix("Page about "), each.classification, each.score)
        for each in result.evidence
    ]


async def test_a_question_is_planned_searched_verified_and_classified() -> None:
    judge = ScriptedJudge(reader)
    result = await EvidencePipeline(Adapters([WIKI]), judge.model).run(QUESTION)
    assert (result.status, result.degraded, result.notes) == ("found", (), ())
    assert classes(result) == [
        ("the harbour tower", "perfect", 1.0),
        ("the harbour bridge", "partial", 0.3),
        ("the port", "reject", 0.0),
    ]
    assert result.evidence[0].assessments[0].quotes == ("The harbour tower is 80 metres high",)
    assert result.plan.queries == tuple(PLAN["queries"])
    assert judge.calls == result.usage.model_calls == 4
    assert result.question == QUESTION


async def test_without_a_model_documents_are_ranked_unverified_and_nothing_is_rejected() -> None:
    result = await EvidencePipeline(Adapters([WIKI])).run(QUESTION)
    assert result.status == "found"
    assert result.evidence[0].document.title == TOWER.title
    assert {each.classification for each in result.evidence} == {"unverified"}
    scores = [each.score for each in result.evidence]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert result.degraded == (
        "planned from the question's words: there is no model",
        "3 of 3 documents were not verified: there is no model",
    )
    assert result.usage.model_calls == 0


async def test_only_the_adapters_of_the_names_are_asked() -> None:
    index = ScriptedAdapter(DOWN, name="index")
    pipeline = EvidencePipeline(Adapters([WIKI, index]))
    await pipeline.run(QUESTION, names=["wiki"])
    assert index.asked == []


@pytest.mark.parametrize(
    ("adapters", "question", "options", "problem"),
    [
        (Adapters(), QUESTION, {}, "no adapter is configured"),
        (Adapters([WIKI]), QUESTION, {"names": ["nowhere"]}, "unknown adapter 'nowhere'"),
        (Adapters([WIKI]), "  ", {}, "the question is empty"),
        (Adapters([WIKI]), QUESTION, {"max_results": 0}, "max_results is 0"),
    ],
)
async def test_bad_input_is_refused_before_any_request(
    adapters: Adapters, question: str, options: dict[str, Any], problem: str
) -> None:
    judge = ScriptedJudge(reader)
    with pytest.raises(ConfigurationError, match=problem):
        await EvidencePipeline(adapters, judge.model).run(question, **options)
    assert judge.calls == 0


async def test_progress_comes_step_by_step_and_ends_with_the_result() -> None:
    pipeline = EvidencePipeline(Adapters([WIKI]), ScriptedJudge(reader).model)
    told: list[EvidenceProgress] = []

    async def hear(step: EvidenceProgress) -> None:
        told.append(step)

    result = await pipeline.run(QUESTION, hear=hear)
    assert [type(each) for each in told] == [SearchPlan, Searched, *[Verified] * 3, EvidenceResult]
    assert told[-1] == result
    verified = [each for each in told if isinstance(each, Verified)]
    assert sorted((each.number, each.of) for each in verified) == [(0, 3), (1, 3), (2, 3)]
    assert {each.evidence.classification for each in verified} == {"perfect", "partial", "reject"}


async def test_a_document_is_told_when_it_is_verified_and_not_when_all_are() -> None:
    let_go = anyio.Event()

    async def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = Asked(
            number=0,
            question=str(getattr(messages[-1].parts[0], "content")),  # noqa: B009 - of any part
            instructions="",
            fields=frozenset(info.output_tools[0].parameters_json_schema["properties"]),
            settings={},
        )
        if "<document" in asked.question and "The harbour tower is" not in asked.question:
            await let_go.wait()
        answer = reader(asked)
        assert isinstance(answer, dict)
        return ModelResponse(parts=[ToolCallPart("answer", answer)])

    pipeline = EvidencePipeline(Adapters([WIKI]), provider_model(FunctionModel(answers)))
    told: list[Verified] = []

    async def hear(step: EvidenceProgress) -> None:
        if isinstance(step, Verified):
            told.append(step)
            let_go.set()

    with anyio.fail_after(60):
        await pipeline.run(QUESTION, hear=hear)
    assert told[0].evidence.classification == "perfect"


async def test_a_listener_that_breaks_off_leaks_no_task() -> None:
    entered = anyio.Event()

    async def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if "<document" not in str(messages):
            return ModelResponse(parts=[ToolCallPart("answer", PLAN)])
        if "The harbour tower is" in str(messages):
            return ModelResponse(parts=[ToolCallPart("answer", {"judgements": []})])
        entered.set()
        await anyio.sleep_forever()
        raise AssertionError

    tasks = len(asyncio.all_tasks())
    pipeline = EvidencePipeline(Adapters([WIKI]), provider_model(FunctionModel(answers)))

    async def hear(step: EvidenceProgress) -> None:
        if isinstance(step, Verified):
            await entered.wait()
            raise InterruptedError

    with anyio.fail_after(60), pytest.raises(InterruptedError):
        await pipeline.run(QUESTION, hear=hear)
    assert len(asyncio.all_tasks()) == tasks


async def test_a_batch_has_one_entry_per_query_in_order_and_one_failure_is_one_error_entry() -> (
    None
):
    pipeline = EvidencePipeline(Adapters([WIKI]), ScriptedJudge(reader).model)
    entries = await answer_each([QUESTION, " ", "What is the port?", "x" * 20_000], pipeline.run)
    assert [entry.question[:9] for entry in entries] == [QUESTION[:9], " ", "What is t", "x" * 9]
    assert [entry.result is not None for entry in entries] == [True, False, True, False]
    assert entries[0].error is None
    assert entries[1].error == "the question is empty — say what to look for"
    assert "20,000 characters" in (entries[3].error or "")


async def test_a_bug_that_one_question_brings_out_is_one_entry_and_its_words_are_not_told() -> None:
    pipeline = EvidencePipeline(Adapters([BuggyName()]))
    (entry,) = await answer_each([QUESTION], pipeline.run)
    assert (entry.result, entry.error) == (None, "ZeroDivisionError")


class BuggyName(ScriptedAdapter):
    """An adapter that works until it is asked where it searches."""

    def __init__(self) -> None:
        super().__init__([TOWER])
        del self.place

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError("secret")


async def test_a_batch_whose_run_cannot_be_recorded_breaks_off() -> None:
    pipeline = EvidencePipeline(Adapters([ScriptedAdapter(StorageError("the disk is full"))]))
    with pytest.raises(StorageError):
        await answer_each([QUESTION, QUESTION], pipeline.run)
    with pytest.raises(StorageError):
        await plan(EIFFEL, ScriptedJudge(StorageError("the disk is full")).model)


async def test_a_run_that_was_killed_in_the_middle_pays_for_the_rest_only() -> None:
    with recording() as made:
        before = await EvidencePipeline(Adapters([WIKI]), ScriptedJudge(reader).model).run(QUESTION)
    judge = ScriptedJudge(reader)
    with recording(made[:-2]) as further:
        after = await EvidencePipeline(Adapters([WIKI]), judge.model).run(QUESTION)
    assert after == before
    assert (judge.calls, len(further)) == (2, 2)


async def test_a_budget_that_is_reached_means_no_further_call_and_the_rest_is_ranked() -> None:
    judge = ScriptedJudge(reader)
    with recording(budget=Budget(max_calls=2)):
        result = await EvidencePipeline(Adapters([WIKI]), judge.model).run(QUESTION)
    assert judge.calls == 2
    kinds = [kind for _, kind, _ in classes(result)]
    assert kinds.count("unverified") == 2
    assert result.degraded == (
        "2 of 3 documents were not verified: the run's budget of calls is spent",
    )


EIFFEL = "How tall is the Eiffel Tower in Paris?"


def criterion(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "type": "topic", "name": name, "description": f"About {name}.", **fields}


def answer(queries: Any = ("one", "two"), criteria: Any = None) -> Answer:
    return {
        "queries": queries if isinstance(queries, str) else list(queries),
        "criteria": [criterion("height")] if criteria is None else criteria,
    }


async def test_a_model_plans_queries_and_weighted_criteria() -> None:
    given = [criterion("height", weight=60), criterion("year", type="Time ", weight=40)]
    judge = ScriptedJudge(answer(["eiffel tower height", "paris tower metres"], given))
    made = await plan(f"  {EIFFEL}\n", judge.model)
    assert made.question == EIFFEL
    assert made.queries == ("eiffel tower height", "paris tower metres")
    assert [(c.id, c.weight, c.is_about_time) for c in made.criteria] == [
        ("height", 0.6, False),
        ("year", 0.4, True),
    ]
    assert (made.degraded, made.notes, made.usage.model_calls) == (None, (), 1)


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        (EIFFEL, (EIFFEL, "tall Eiffel", "Tower Paris")),
        ("one two three four", ("one two three four", "one two", "three four")),
        ("Eiffel height", ("Eiffel height", "Eiffel", "height")),
        ("Is it?", ("Is it?", "Is", "it")),
        ("Eiffel", ("Eiffel",)),
        ("???", ("???",)),
    ],
)
async def test_without_a_model_it_is_the_query_its_halves_and_one_topic(
    question: str, queries: tuple[str, ...]
) -> None:
    made = await plan(question, None)
    assert made.queries == queries
    assert [(c.type, c.weight) for c in made.criteria] == [("topic", 1.0)]
    assert question in made.criteria[0].description
    assert made.degraded == "planned from the question's words: there is no model"


@pytest.mark.slow
@given(st.text(min_size=1, max_size=800).filter(str.strip))
def test_any_question_has_a_keyword_plan(question: str) -> None:
    queries = keyword_queries(question.strip())
    assert 1 <= len(queries) <= 3
    assert all(query.strip() and len(query) <= LONGEST_QUERY for query in queries)


@pytest.mark.parametrize("question", ["a\0b", "half \ud800", "x" * 10_001])
async def test_a_question_that_is_no_text_or_too_long_is_refused(question: str) -> None:
    with pytest.raises(ConfigurationError, match="question"):
        await plan(question, None)


async def test_more_than_four_queries_and_criteria_are_cut_to_the_first_four() -> None:
    given = [criterion(f"c{n}", weight=1) for n in range(6)]
    judge = ScriptedJudge(answer([f"query {n}" for n in range(6)], given))
    made = await plan(EIFFEL, judge.model)
    assert made.queries == ("query 0", "query 1", "query 2", "query 3")
    assert [each.weight for each in made.criteria] == [0.25] * 4
    assert made.notes == (
        "of 6 queries the first 4 were taken",
        "of 6 criteria the first 4 were taken",
    )


@pytest.mark.parametrize("queries", [(), ("",), (" ", "\n")])
async def test_a_plan_without_queries_takes_the_questions_words_and_says_so(queries: Any) -> None:
    made = await plan(EIFFEL, ScriptedJudge(answer(queries)).model)
    assert made.queries == (EIFFEL, "tall Eiffel")
    assert made.notes == ("the plan had no queries; the question's words were added",)
    assert made.degraded is None


async def test_queries_are_cut_and_spelled_once() -> None:
    judge = ScriptedJudge(answer(["Eiffel  Height", "eiffel height", " EIFFEL HEIGHT"]))
    made = await plan(EIFFEL, judge.model)
    assert made.queries == ("Eiffel Height", EIFFEL)
    judge = ScriptedJudge(answer(["tower " * 100, "two"]))
    made = await plan(EIFFEL, judge.model)
    assert len(made.queries[0]) <= LONGEST_QUERY
    assert made.queries[0].endswith("tower")


@pytest.mark.parametrize("criteria", [[], [{"id": "a"}], [criterion("", description=" ")]])
async def test_a_plan_without_criteria_takes_the_topic_and_says_so(criteria: Any) -> None:
    made = await plan(EIFFEL, ScriptedJudge(answer(criteria=criteria)).model)
    assert [(each.id, each.weight) for each in made.criteria] == [("topic", 1.0)]
    assert made.notes == ("the plan had no criteria; being about the question was added",)


async def test_duplicate_and_empty_ids_are_told_apart() -> None:
    given = [
        criterion("a", weight=1),
        criterion("A", weight=1),
        criterion("x", id=" ", weight=1),
        criterion("a", weight=1),
    ]
    made = await plan(EIFFEL, ScriptedJudge(answer(criteria=given)).model)
    assert [each.id for each in made.criteria] == ["a", "A-2", "c3", "a-3"]
    assert made.notes == ("two criteria had the id 'A'", "two criteria had the id 'a'")


async def test_a_plan_of_time_alone_is_given_a_topic() -> None:
    given = [criterion(f"year {n}", type=" TIME", weight=30) for n in range(4)]
    made = await plan(EIFFEL, ScriptedJudge(answer(criteria=given)).model)
    assert [each.is_about_time for each in made.criteria] == [False, True, True, True]
    assert [each.weight for each in made.criteria] == [0.25] * 4
    assert made.notes == (
        "the plan had only criteria about time; being about the question was added",
    )


@pytest.mark.parametrize("weight", [-5, 0, "much", None, True, 1e999, {}])
async def test_weights_that_are_no_numbers_count_the_same(weight: Any) -> None:
    given = [criterion("a", weight=weight), criterion("b", weight=weight)]
    made = await plan(EIFFEL, ScriptedJudge(answer(criteria=given)).model)
    assert [each.weight for each in made.criteria] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I think we should search.", "not in the form asked for"),
        ({"queries": ["one"]}, "not in the form asked for"),
        (ModelProviderError("the model is down", error_code="rejected"), "the model is down"),
        (ZeroDivisionError("secret"), "planned from the question's words: "),
    ],
)
async def test_when_no_plan_comes_of_it_the_keyword_plan_is_taken_and_says_so(
    said: Any, reason: str
) -> None:
    made = await plan(EIFFEL, ScriptedJudge(said).model)
    assert made.queries == (EIFFEL, "tall Eiffel", "Tower Paris")
    assert reason in (made.degraded or "")
    assert "secret" not in (made.degraded or "")
