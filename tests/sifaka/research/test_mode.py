"""The mode of a question for which none was chosen."""

import pytest

from sifaka.errors import ModelProviderError
from sifaka.record.research_question import Inquiry
from sifaka.record.usage import Budget
from sifaka.research.researcher import LONG, chosen_mode
from tests.sifaka.critics.scripted_judge import Answer
from tests.sifaka.research.bench import QUESTION, Bench, Scholar, shelf, told

DEEP = [
    "Write a report on lamps",
    "Give me an overview of lamps",
    "Compare oil and gas lamps",
    "Oil lamps vs gas lamps",
    "An in-depth look at lamps",
    "Erstelle einen Bericht über Lampen",
    " ".join(["word"] * LONG),
]


@pytest.mark.parametrize("question", DEEP)
def test_auto_is_deep_for_reports_overviews_comparisons_and_long_questions(question: str) -> None:
    assert chosen_mode("auto", question) == "deep"


@pytest.mark.parametrize("question", ["Who lit the lamps?", "When was gas reported first?"])
def test_auto_is_iterative_otherwise(question: str) -> None:
    assert chosen_mode("auto", question) == "iterative"


def test_a_mode_that_was_chosen_stays() -> None:
    assert chosen_mode("iterative", DEEP[0]) == "iterative"
    assert chosen_mode("deep", "Who?") == "deep"


@pytest.mark.anyio
async def test_the_model_chooses_where_no_mode_was_chosen() -> None:
    scholar = Scholar(parser=lambda _: {"question": "Anything", "mode": "deep"})
    thought = await Bench(inquiry=Inquiry()).research(scholar.judge, shelf())
    assert told(thought)["mode"] == "deep"
    assert len(scholar.of("parser")) == 1
    assert QUESTION in scholar.of("planner")[0].question, (
        "without a conversation it is not restated"
    )
    assert "Anything" not in scholar.of("planner")[0].question


@pytest.mark.anyio
async def test_no_model_is_asked_where_the_mode_was_chosen() -> None:
    scholar = Scholar()
    await Bench(inquiry=Inquiry(mode="iterative")).research(scholar.judge, shelf())
    assert not scholar.of("parser")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer",
    [
        "No.",
        {"mode": "sideways", "question": "x"},
        ModelProviderError("it has failed", code="bad_request"),
    ],
    ids=str,
)
async def test_the_rules_choose_where_the_answer_is_none(answer: Answer) -> None:
    scholar = Scholar(parser=lambda _: answer)
    bench = Bench(question=DEEP[0], inquiry=Inquiry())
    thought = await bench.research(scholar.judge, shelf())
    assert told(thought)["mode"] == "deep"
    assert any("the question was read by rules" in line for line in told(thought, "degraded"))


@pytest.mark.anyio
async def test_the_rules_choose_where_few_calls_are_left() -> None:
    scholar = Scholar()
    bench = Bench(inquiry=Inquiry(), budget=Budget(max_calls=7))
    thought = await bench.research(scholar.judge, shelf())
    assert told(thought)["mode"] == "iterative"
    assert not scholar.of("parser")
    assert told(thought)["written"], "the writer has its call"
