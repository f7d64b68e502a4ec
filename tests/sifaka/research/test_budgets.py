"""A budget that is reached means no further call; the report is written from what there is."""

import anyio
import pytest

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.errors import BudgetExceeded
from sifaka.evidence.documents import SourceDocument
from sifaka.record.research_question import Inquiry
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget, Usage
from sifaka.research.progress import share_out
from sifaka.research.state import in_order, stop_of
from tests.sifaka.critics.scripted_judge import Answer, Asked
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, page
from tests.sifaka.research.bench import Bench, Scholar, agent_of, plan_of, told
from tests.stubs.clock import Clock

pytestmark = pytest.mark.anyio

TITLES = ("A", "B", "C", "D")


def never(asked: Asked) -> Answer:
    return {"research_complete": False, "gaps": ["more of it"]}


def ever_new() -> ScriptedAdapter:
    """Finds another page each time."""
    numbers = iter(range(1000))

    def find(query: str) -> list[SourceDocument]:
        n = next(numbers)
        return [page(f"page-{n}", f"Of {query}.\nThis is fact number {n} of them.")]

    return ScriptedAdapter(find)


def scholar() -> Scholar:
    return Scholar(knowledge_gap=never, planner=plan_of(*TITLES))


async def researched(
    asked: Scholar, budget: Budget, *, mode: str = "iterative", section: Budget | None = None
) -> tuple[Thought, Bench]:
    inquiry = Inquiry.model_validate({"mode": mode, "max_iterations": 9, "section_budget": section})
    bench = Bench(budget=budget, inquiry=inquiry)
    return await bench.research(asked.judge, ever_new()), bench


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 6, 12])
async def test_never_more_calls_than_the_budget_has_and_there_is_always_a_report(
    calls: int,
) -> None:
    asked = scholar()
    thought, _ = await researched(asked, Budget(max_calls=calls))
    assert len(asked.asked) == calls
    if calls:  # one is kept for the writer
        agents = [agent_of(each) for each in asked.asked]
        assert (agents.count("writer"), agents[-1]) == (1, "writer")
        assert told(thought)["sections"][0]["written"] == "model"
    assert told(thought)["stop_reasons"] == ("calls",)
    assert thought.pre_generation_context
    assert thought.text.count("## References") == 1


async def test_without_room_for_any_call_the_report_is_the_words_that_were_found() -> None:
    asked = scholar()
    thought, _ = await researched(asked, Budget(max_calls=0))
    assert asked.asked == []
    assert "as the budget of calls was spent" in thought.text
    assert "This is fact number 0 of them." in thought.text
    assert "[1]" in thought.text
    assert told(thought)["written"] is True
    assert told(thought)["sections"][0]["written"] == "plain"


@pytest.mark.parametrize("tokens", [0, 300, 3_000, 9_000])
@pytest.mark.parametrize("calls", [None, 30])
async def test_no_more_tokens_are_spent_than_the_budget_has(tokens: int, calls: int | None) -> None:
    budget = Budget(max_tokens=tokens, max_calls=calls)
    thought, bench = await researched(scholar(), budget, mode="deep", section=Budget(max_calls=9))
    assert bench.ledger is not None
    spent = bench.ledger.spent
    assert spent.input_tokens + spent.output_tokens <= tokens
    limits = {"tokens"} if calls is None else {"tokens", "calls"}
    assert limits & set(told(thought)["stop_reasons"])


async def test_a_budget_of_time_ends_the_loop_and_the_report_is_written() -> None:
    async def hang(query: str) -> list[SourceDocument]:
        await anyio.sleep_forever()
        raise AssertionError

    hanging = ScriptedAdapter(lambda query: hang(query))
    bench = Bench(budget=Budget(max_seconds=0.5))
    asked = scholar()
    with anyio.fail_after(20):
        thought = await bench.research(asked.judge, hanging)
    assert told(thought)["stop_reasons"] == ("time",)
    assert "Nothing was found, as the budget of time was spent." in thought.text
    assert len(asked.of("thinking")) <= 1
    assert asked.of("writer") == []


async def test_what_was_found_before_the_time_was_over_is_in_the_report() -> None:
    clock = Clock()

    def find(query: str) -> list[SourceDocument]:
        if "slow" not in query:
            return [page("lamps", "Of lamps.\nLamps burned oil in 1811.")]
        clock.now += 100
        return []

    def select(asked: Asked) -> Answer:
        later = "Iteration 1" in asked.question
        return {"tasks": [{"query": "slow lamps" if later else "lamps"}]}

    asked = Scholar(knowledge_gap=never, tool_selector=select)
    bench = Bench(budget=Budget(max_seconds=100), clock=clock)
    thought = await bench.research(asked.judge, ScriptedAdapter(find))
    assert told(thought)["stop_reasons"] == ("time",)
    assert "Lamps burned oil in 1811." in thought.text
    assert told(thought)["sections"][0]["written"] == "plain"
    assert [agent_of(each) for each in asked.asked][-1] == "tool_selector"


async def test_reasons_are_told_in_the_order_tokens_time_iterations() -> None:
    inquiry = Inquiry(mode="iterative", max_iterations=1)
    bench = Bench(budget=Budget(max_tokens=300), inquiry=inquiry)
    thought = await bench.research(scholar().judge, ever_new())
    assert told(thought)["stop_reasons"] == ("tokens", "iterations")
    assert in_order(["cost", "calls", "iterations", "time", "tokens", "time"]) == (
        "tokens", "time", "iterations", "calls", "cost",
    )  # fmt: skip
    assert stop_of(BudgetExceeded("seconds")) == "time"


@pytest.mark.parametrize("calls", [0, 1, 4, 5, 6, 12, 30])
async def test_a_global_budget_caps_all_branches_together(calls: int) -> None:
    asked = scholar()
    thought, bench = await researched(asked, Budget(max_calls=calls), mode="deep")
    assert len(asked.asked) <= calls
    assert bench.ledger is not None
    assert bench.ledger.spent.model_calls == len(asked.asked)
    assert bench.ledger.calls_left == calls - len(asked.asked), "nothing stays set aside"
    assert "calls" in told(thought)["stop_reasons"]
    assert thought.text.count("\n## ") == len(told(thought)["outline"]) + 1


async def test_every_writer_and_the_synthesizer_have_their_call_reserved_before_the_fan_out() -> (
    None
):
    asked = scholar()
    thought, _ = await researched(asked, Budget(max_calls=6), mode="deep")
    agents = [agent_of(each) for each in asked.asked]
    assert agents == ["planner", *["writer"] * 4, "synthesizer"]
    assert {each["written"] for each in told(thought)["sections"]} == {"model"}


async def test_the_first_sections_leave_the_later_ones_their_share() -> None:
    asked = scholar()
    bench = Bench(
        budget=Budget(max_calls=6 + 4 * 3),
        inquiry=Inquiry(mode="deep", max_iterations=9, parallel=1),
    )
    await bench.research(asked.judge, ever_new())
    assert [len(asked.of(agent)) for agent in ("tool_selector", "verifier", "thinking")] == [
        4, 4, 4,
    ]  # fmt: skip


async def test_a_sections_own_budget_ends_that_section_and_no_other() -> None:
    def look(asked: Asked) -> Answer:
        only_one = "What of A?" in asked.question
        return {"research_complete": not only_one and "[1]" in asked.question, "gaps": ["more"]}

    asked = Scholar(knowledge_gap=look, planner=plan_of(*TITLES))
    thought, _ = await researched(asked, Budget(), mode="deep", section=Budget(max_calls=9))
    sections = told(thought)["sections"]
    assert [each["stop_reasons"] for each in sections] == [("calls",), (), (), ()]
    of_a = [each for each in asked.asked if "What of A?" in each.question]
    assert len(of_a) == 9
    assert agent_of(of_a[-1]) == "writer"


async def test_documents_for_which_there_is_no_call_stay_unverified_and_are_not_turned_down() -> (
    None
):
    asked = scholar()
    thought, _ = await researched(asked, Budget(max_calls=2))
    assert asked.of("verifier") == []
    assert thought.pre_generation_context
    assert any("the run's budget of calls is spent" in line for line in told(thought, "degraded"))


ONE = Usage(model_calls=1)


def ledger(**limits: float) -> Ledger:
    return Ledger(Budget.model_validate(limits), Usage())


def call(account: Ledger) -> None:
    account.settle(account.reserve(), ONE)


def test_the_call_of_a_writer_is_not_taken_by_another_section() -> None:
    account = ledger(max_calls=2)
    first, second = share_out(Calls(ledger=account), None, [Usage()] * 2, besides=0)
    with pytest.raises(BudgetExceeded):
        call(first.looping.ledger)
    call(first.writing.ledger)
    with pytest.raises(BudgetExceeded):
        call(first.writing.ledger)
    call(second.writing.ledger)
    assert account.spent.model_calls == 2


@pytest.mark.parametrize(
    ("limits", "spent", "left", "limit"),
    [
        ({"max_tokens": 8_000}, {"input_tokens": 3_000}, "tokens_left", "tokens"),
        ({"max_cost_usd": 8_000}, {"cost_usd": 3_000.0}, "cost_left", "cost"),
    ],
)
def test_the_loop_of_a_section_leaves_its_writer_a_quarter_of_its_tokens_and_money(
    limits: dict[str, float], spent: dict[str, float], left: str, limit: str
) -> None:
    calls = Calls(ledger=ledger(**limits))
    first, second = share_out(calls, None, [Usage(), Usage()], besides=0)
    assert [getattr(each.looping.ledger, left) for each in (first, second)] == [3_000, 3_000]
    loop = first.looping.ledger
    loop.settle(loop.reserve(), Usage.model_validate({"model_calls": 1, **spent}))
    assert loop.exhausted() == limit
    assert second.looping.ledger.exhausted() is None
    assert first.writing.ledger.exhausted() is None
    assert getattr(first.writing.ledger, left) == 5_000
