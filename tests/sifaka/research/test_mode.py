"""The mode of a question for which none was chosen."""

import pytest

from sifaka.record.inquiry import Inquiry
from sifaka.research.researcher import LONG, chosen_mode
from tests.sifaka.research.bench import Bench, Scholar, shelf, told

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
async def test_no_model_is_asked_for_the_mode() -> None:
    scholar = Scholar()
    thought = await Bench(inquiry=Inquiry()).research(scholar.judge, shelf())
    assert told(thought)["mode"] == "iterative"
    assert "mode" not in scholar.asked[0].fields
    thought = await Bench(question=DEEP[0], inquiry=Inquiry()).research(Scholar().judge, shelf())
    assert told(thought)["mode"] == "deep"
