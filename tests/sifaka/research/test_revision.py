"""The long writer: it makes one text of the sections, and adds nothing."""

from collections.abc import Callable

import pytest

from sifaka.errors import ModelProviderError
from sifaka.models.prompt import contents
from sifaka.record.research_question import Inquiry
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget
from tests.sifaka.critics.scripted_judge import Answer, Asked
from tests.sifaka.research.bench import Bench, Scholar, shelf, told

pytestmark = pytest.mark.anyio
DEEP = Inquiry(mode="deep")


def drafted(asked: Asked) -> str:
    return contents(asked.question)[0]["draft"][0]


async def report(budget: Budget | None = None, **answers: Callable[[Asked], Answer]) -> Thought:
    scholar = Scholar(**answers)
    return await Bench(inquiry=DEEP, budget=budget or Budget()).research(scholar.judge, shelf())


async def test_each_section_is_written_to_follow_from_those_before_it() -> None:
    scholar = Scholar(long_writer=lambda asked: {"section": f"As was said, {drafted(asked)}"})
    bench = Bench(inquiry=DEEP)
    thought = await bench.research(scholar.judge, shelf())
    keys = [call.key for call in (await bench.stored()).calls]
    assert len(keys) == len(set(keys)), "the calls of each section have a place of their own"
    asked = scholar.of("long_writer")
    assert [contents(each.question)[0]["section"] for each in asked] == [["Gas"], ["Wires"]]
    before = contents(asked[1].question)[0]["sections before"][0]
    assert "## Oil" in before
    assert "As was said, Statement" in before, "the section as it was written again"
    assert "[1]" not in before, "numbers of another section would be cited"
    assert thought.text.count("As was said") == 2
    assert told(thought, "degraded") == ()


SAYINGS: list[tuple[Callable[[str], str], str]] = [
    (lambda draft: f"{draft} It cost 47 million crowns.", "47 million"),
    (lambda draft: f"{draft} Baron Karl Okonkwo paid for it.", "Okonkwo"),
    (lambda draft: "Nothing.", "leaves out too much"),
    (lambda draft: draft.replace("[1]", ""), "cites something else"),
    (lambda draft: draft.replace("[1]", "[9]"), "cites something else"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "reason"),
    SAYINGS,
    ids=["a number", "a name", "too short", "no citation", "another citation"],
)
async def test_a_section_that_says_something_else_stays_as_it_was_drafted(
    said: Callable[[str], str], reason: str
) -> None:
    usual = await report()
    changed = await report(
        long_writer=lambda asked: {"section": said(drafted(asked).replace("[2]", "[1]"))}
    )
    assert changed.text == usual.text
    lines = [line for line in told(changed, "degraded") if "stays as it was drafted" in line]
    assert len(lines) == 2
    assert all(reason in line for line in lines)


async def test_a_long_writer_that_fails_costs_the_report_nothing() -> None:
    usual = await report()
    failed = await report(long_writer=lambda _: ModelProviderError("gone", code="bad_request"))
    assert failed.text == usual.text
    assert any("the long_writer has failed" in line for line in told(failed, "degraded"))
    assert not told(failed)["partial"]


async def test_it_does_not_take_the_call_that_is_kept_for_the_summary() -> None:
    scholar = Scholar()
    # What the sections and their plan take, and the one that is kept.
    bench = Bench(inquiry=DEEP)
    await bench.research(scholar.judge, shelf())
    before = len(scholar.asked) - len(scholar.of("long_writer"))
    thought = await report(Budget(max_calls=before))
    assert "In short, lamps changed" in thought.text
    assert any("no room for the long_writer" in line for line in told(thought, "degraded"))
