"""A research that was interrupted goes on where it stood, and pays for nothing twice."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from sifaka.errors import ModelProviderError, SifakaError
from sifaka.record.entries import Researched
from sifaka.record.research_question import Inquiry
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget
from sifaka.research.state import Round
from sifaka.storage import MemoryStorage, SQLiteStorage
from tests.sifaka.critics.scripted_judge import Answer, Asked
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter
from tests.sifaka.research.bench import USUAL, Bench, Scholar, complete_after, shelf, told
from tests.sifaka.research.test_deep import of_section

pytestmark = pytest.mark.anyio

INQUIRY = Inquiry(mode="deep", max_iterations=3, max_sections=2, parallel=2)


class _Interrupted:
    """Cancels the work at a given call of the model, before it is answered."""

    def __init__(self, at: int) -> None:
        self._left = at
        self.scope = anyio.CancelScope()

    def count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.scope.cancel()


def scholar(interrupted: _Interrupted | None = None) -> Scholar:
    """A model for two sections of two iterations each."""

    def counted(answer: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
        def say(asked: Asked) -> Answer:
            if interrupted is not None:
                interrupted.count()
            return answer(asked)

        return say

    answers = {**USUAL, "knowledge_gap": complete_after(3), "tool_selector": of_section}
    return Scholar(**{name: counted(each) for name, each in answers.items()})


def by_a_model(run: Run) -> int:
    """The number of answers of a model on record."""
    return sum(call.response.startswith('{"parts":') for call in run.calls)


Whole = tuple[Thought, int, list[tuple[str, int]]]


@pytest.fixture(scope="module")
def uninterrupted() -> Whole:
    """The text, the number of calls and the searches of the same research in one piece."""

    async def research() -> Whole:
        asked, adapter = scholar(), shelf()
        thought = await Bench(inquiry=INQUIRY).research(asked.judge, adapter)
        return thought, len(asked.asked), adapter.asked

    return anyio.run(research)


@pytest.mark.parametrize(
    ("at", "in_a_database"),
    [(at, at in {5, 11, 20}) for at in (1, 5, 8, 11, 17, 20, 22, 24)],
)
async def test_work_that_is_cancelled_at_any_call_repeats_no_finished_call(
    at: int, in_a_database: bool, tmp_path: Path, uninterrupted: Whole
) -> None:
    whole, calls, searches = uninterrupted
    path = tmp_path / "runs.db"
    bench = Bench(inquiry=INQUIRY, store=SQLiteStorage(path) if in_a_database else MemoryStorage())
    stop = _Interrupted(at)
    adapter, again = shelf(), shelf()
    with stop.scope:
        await bench.research(scholar(stop).judge, adapter)
    if in_a_database:  # the process has ended
        await bench.store.aclose()
        bench = Bench(inquiry=INQUIRY, store=SQLiteStorage(path), run_id=bench.run_id)
    before = await bench.stored()
    second = scholar()
    thought = await bench.research(second.judge, again)
    run = await bench.stored()
    await bench.store.aclose()
    assert run.calls[: len(before.calls)] == before.calls
    assert len({call.key for call in run.calls}) == len(run.calls), "a place was asked at twice"
    assert by_a_model(run) == calls, "as many answers as without any interruption"
    assert len(second.asked) == calls - by_a_model(before)
    assert Counter([*adapter.asked, *again.asked]) == Counter(searches)
    assert _without_dates(thought) == _without_dates(whole)


def _without_dates(thought: Thought) -> tuple[str, object]:
    return thought.text.split("Retrieved")[0], told(thought)["sections"]


@pytest.mark.parametrize("steps", [1, 2, 4, 6, 9])
async def test_work_that_breaks_off_after_any_step_on_record_goes_on_after_it(
    steps: int, uninterrupted: Whole
) -> None:
    bench = Bench(inquiry=INQUIRY)
    left = steps
    scope = anyio.CancelScope()

    def count(entry: Researched) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            scope.cancel()

    with scope:
        await bench.research(scholar().judge, shelf(), before=count)
    recorded = (await bench.stored()).research
    second = scholar()
    whole, calls, _ = uninterrupted
    thought = await bench.research(second.judge, shelf())
    run = await bench.stored()
    assert run.research[: len(recorded)] == recorded
    kinds = Counter((each.step, each.section, each.iteration) for each in run.research)
    assert set(kinds.values()) == {1}, "no step is put on record twice"
    assert by_a_model(run) == calls
    assert _without_dates(thought) == _without_dates(whole)


async def test_a_section_that_failed_stays_failed_until_the_run_itself_has_failed() -> None:
    def refuse(asked: Asked) -> Answer:
        return ModelProviderError("refused", error_code="rejected")

    bench = Bench(inquiry=INQUIRY)
    with pytest.raises(SifakaError, match="every section failed"):
        await bench.research(Scholar(thinking=refuse).judge, shelf())
    same = scholar()
    with pytest.raises(SifakaError, match="every section failed"):
        await bench.research(same.judge, shelf())
    assert same.asked == []
    thought = await bench.research(scholar().judge, shelf(), failures=1)
    assert told(thought)["partial"] is False
    assert [each["status"] for each in told(thought)["sections"]] == ["done", "done"]


async def test_a_provider_that_failed_for_a_while_costs_no_iteration_that_was_done() -> None:
    down = True

    def at_times(asked: Asked) -> Answer:
        if down and "Iteration 1" in asked.question:
            return ModelProviderError("down", error_code="rejected")
        return {"observations": "..."}

    bench = Bench(inquiry=Inquiry(mode="iterative"))
    adapter: ScriptedAdapter = shelf()
    asked = Scholar(thinking=at_times, knowledge_gap=complete_after(3))
    with pytest.raises(ModelProviderError, match="down"):
        await bench.research(asked.judge, adapter)
    before = len(adapter.asked)
    down = False
    thought = await bench.research(asked.judge, adapter, failures=1)
    assert thought.pre_generation_context
    searched = len(adapter.asked) - before
    assert told(thought)["sections"][0]["iterations"] == 1 + searched // 2


async def test_what_a_section_has_spent_before_counts_after_a_resume() -> None:
    def never(asked: Asked) -> Answer:
        return {"research_complete": False, "gaps": ["more"]}

    inquiry = Inquiry(mode="iterative", max_iterations=9, section_budget=Budget(max_calls=12))
    answered: list[int] = []
    for at in (3, 7, 10):
        bench = Bench(inquiry=inquiry)
        stop = _Interrupted(at)

        def counted(asked: Asked, stop: _Interrupted = stop) -> Answer:
            stop.count()
            return {"tasks": [{"query": f"lamps {asked.number}"}]}

        with stop.scope:
            first = Scholar(knowledge_gap=never, tool_selector=counted)
            await bench.research(first.judge, shelf())
        second = Scholar(
            knowledge_gap=never,
            tool_selector=lambda asked: {"tasks": [{"query": f"more {asked.number}"}]},
        )
        await bench.research(second.judge, shelf())
        answered.append(by_a_model(await bench.stored()))
    assert answered == [12, 12, 12]


async def test_what_is_on_record_is_what_each_step_has_added() -> None:
    bench = Bench(inquiry=Inquiry(mode="iterative"))
    asked = Scholar(
        knowledge_gap=complete_after(3),
        tool_selector=lambda asked: {
            "tasks": [{"query": f"lamps {asked.question.count('Iteration')} {n}"} for n in (1, 2)]
        },
    )
    await bench.research(asked.judge, shelf())
    rounds = [each for each in (await bench.stored()).research if each.step == "looping"]
    assert [each.iteration for each in rounds] == [1, 2]
    states = [Round.model_validate(each.model_dump(mode="json")["state"]) for each in rounds]
    assert [[f.number for f in each.findings] for each in states] == [[1, 2], [3, 4]]
    assert all(each.gaps and each.tasks for each in states)
    assert [bool(each.observations) for each in states] == [False, True], "of none, nothing is seen"
