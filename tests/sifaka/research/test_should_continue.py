"""The judge that decides whether the search goes on: bounded, with the gaps in its place."""

import pytest

from sifaka.errors import ModelProviderError
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.research_question import Inquiry
from sifaka.research.researcher import GraphResearcher
from tests.sifaka.critics.scripted_judge import Answer, ScriptedJudge
from tests.sifaka.research.bench import Bench, Scholar, shelf, told

pytestmark = pytest.mark.anyio
NO_GAPS: Answer = {"research_complete": True, "gaps": []}
GAPS: Answer = {"research_complete": False, "gaps": ["which lamps burned gas"]}


async def rounds(scholar: Scholar) -> tuple[int, list[str]]:
    thought = await Bench(inquiry=Inquiry(mode="iterative")).research(scholar.judge, shelf())
    research = told(thought)
    assert research["written"]
    return research["sections"][0]["iterations"], list(told(thought, "degraded"))


async def test_a_judge_who_has_enough_ends_the_search() -> None:
    scholar = Scholar(
        knowledge_gap=lambda _: GAPS, should_continue=lambda _: {"should_continue": False}
    )
    assert await rounds(scholar) == (1, [])


async def test_a_judge_who_never_has_enough_is_bounded() -> None:
    scholar = Scholar(
        knowledge_gap=lambda _: NO_GAPS, should_continue=lambda _: {"should_continue": True}
    )
    assert await rounds(scholar) == (3, [])
    assert len(scholar.of("should_continue")) == 2, "not before the first search, nor at the limit"


@pytest.mark.parametrize(("gaps", "made"), [(NO_GAPS, 1), (GAPS, 3)])
@pytest.mark.parametrize("answer", ["Perhaps.", ModelProviderError("gone", code="bad_request")])
async def test_where_no_judge_can_be_asked_the_gaps_decide(
    answer: Answer, gaps: Answer, made: int
) -> None:
    scholar = Scholar(knowledge_gap=lambda _: gaps, should_continue=lambda _: answer)
    iterations, degraded = await rounds(scholar)
    assert iterations == made
    assert any("no judge decided whether to go on" in line for line in degraded)


async def test_another_judge_is_asked_where_there_is_one() -> None:
    scholar, judge = Scholar(), ScriptedJudge({"should_continue": False})
    inquiry = Inquiry(mode="iterative")
    researcher = GraphResearcher(
        inquiry, Adapters([shelf()]), scholar.judge.model, judge=judge.model
    )
    await Bench(inquiry=inquiry).research(scholar.judge, researcher=researcher)
    assert judge.calls == 1
    assert not scholar.of("should_continue")
