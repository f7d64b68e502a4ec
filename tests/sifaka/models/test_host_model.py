"""The host's model, asked by a chain: what it is asked, when, and what its answers are worth."""

from typing import Any

import anyio
import pytest

from sifaka import Budget, Chain, RunResult
from sifaka.calls.context import Calls
from sifaka.calls.host import HostAnswer, HostQuestion, Suspended
from sifaka.calls.ledger import Ledger
from sifaka.record.usage import Usage
from sifaka.storage import MemoryStorage
from tests.stubs.clock import Clock
from tests.stubs.hosts import LaterHost, PresentHost, drafts

pytestmark = pytest.mark.anyio

TEXT = "Draft 0 of the text."
TASK = "write drafts"
RULE: dict[str, Any] = {"validators": [{"type": "content", "required": ["Draft 2"]}]}


def chain(host: Any, **settings: Any) -> Chain:
    named: dict[str, Any] = {"critics": ["self_refine"], "model": "host", **settings}
    return Chain(host=host, **named)


async def in_rounds(host: LaterHost, **settings: Any) -> RunResult:
    """A run that is gone on with by a new chain each time the host has answered."""
    store = MemoryStorage()
    run_id = (await chain(host, store=store, **settings).start(TASK, text=TEXT)).run_id
    while True:
        try:
            return await chain(host, store=store, **settings).resume(run_id)
        except Suspended as waiting:
            host.think(waiting)


async def test_a_question_says_what_it_is_about_and_how_to_answer() -> None:
    host = PresentHost(drafts())
    await chain(host).run(TASK, text=TEXT)
    _, opinion, writing = list(host.asked.values())[:3]
    assert "JSON schema" in opinion.instructions
    assert "Draft 1 of the text." in opinion.prompt
    assert "JSON schema" not in writing.instructions
    assert "complete text and nothing else" in writing.instructions
    assert "go on" in writing.prompt
    assert writing.temperature is None
    assert writing.max_tokens > 1000


async def test_questions_have_keys_of_their_own_and_answers_a_limit() -> None:
    host = PresentHost(drafts())
    await chain(host, budget=Budget(max_tokens=9000)).run(TASK, text=TEXT)
    assert all(question.max_tokens < 9000 for question in host.asked.values())
    later = LaterHost(drafts())
    await in_rounds(later, critics=[{"type": "self_consistency", "n": 4}])
    assert len(later.rounds[1]) == len(set(later.rounds[1])) == 4


async def test_a_host_that_answers_later_leads_to_the_same_run() -> None:
    present, later = PresentHost(drafts()), LaterHost(drafts())
    critics = ["self_refine", {"type": "prompt", "rubric": "is it nice?"}]
    at_once = await chain(present, critics=critics).run(TASK, text=TEXT)
    result = await in_rounds(later, critics=critics)
    assert (result.text, result.status, result.stop_reason) == (
        at_once.text,
        at_once.status,
        at_once.stop_reason,
    )
    assert result.text == "Draft 2 of the text."
    assert [len(keys) for keys in later.rounds] == [1, 2, 1, 2, 2]
    assert result.usage.model_calls == at_once.usage.model_calls == len(later.answered) == 8


async def test_no_more_is_asked_in_a_round_than_the_budget_has_room_for() -> None:
    later = LaterHost(drafts())
    critics = [
        "self_refine",
        {"type": "self_consistency", "n": 3},
        {"type": "prompt", "rubric": "x"},
    ]
    result = await in_rounds(later, critics=critics, budget=Budget(max_calls=8))
    assert [len(keys) for keys in later.rounds] == [1, 5, 1]
    assert (result.stop_reason, result.usage.model_calls) == ("budget_calls", 7)


async def test_a_judge_and_several_versions_at_once_ride_rounds_too() -> None:
    later = LaterHost(drafts())
    result = await in_rounds(later, policy="judged", max_iterations=1)
    assert result.text == "Draft 1 of the text."
    # Version, critique, both orders, and both orders with the original.
    assert [len(keys) for keys in later.rounds] == [1, 1, 2, 2]

    counted = iter(range(100))

    def different(question: HostQuestion) -> HostAnswer:
        if "JSON schema" in question.instructions:
            return drafts(content_with=3)(question)
        return HostAnswer(text=f"Draft {next(counted)} of the text.")

    several = LaterHost(different)
    result = await in_rounds(several, policy="best_of_n", width=4, max_iterations=1)
    assert [len(keys) for keys in several.rounds] == [4, 3, 2], "one is the input again"
    assert result.text == "Draft 3 of the text."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (HostAnswer(text=" "), "the answer was empty"),
        (HostAnswer(text="Draft 1", complete=False), "cut off"),
    ],
    ids=["empty", "cut"],
)
async def test_an_answer_that_is_no_text_is_asked_for_once_and_hands_over(
    answer: HostAnswer, told: str
) -> None:
    later = LaterHost(lambda _: answer)
    result = await in_rounds(later, critics=[], fallback_models=["caller"], **RULE)
    assert (result.status, result.text, len(later.answered)) == ("needs_revision", TEXT, 1)
    assert told in result.degraded[-1]
    assert result.brief is not None


async def test_an_opinion_that_cannot_be_read_is_asked_for_once_more() -> None:
    drafted = "Draft 1 of the text."
    unread = LaterHost(lambda q: HostAnswer(text="well" if "JSON" in q.instructions else drafted))
    result = await in_rounds(unread, fallback_models=["caller"], max_iterations=1)
    assert [len(keys) for keys in unread.rounds[:3]] == [1, 1, 1]
    assert any("self_refine abstained" in line for line in result.degraded)


async def test_waiting_for_the_host_takes_no_time_of_the_budget() -> None:
    clock = Clock()
    ledger = Ledger(Budget(max_seconds=10), Usage(), clock=clock)
    with Calls(ledger=ledger).active(), ledger.within_time() as limit:
        clock.now = 4.0
        with ledger.waiting():
            clock.now = 1000.0
            with ledger.waiting():
                clock.now = 2000.0
            assert ledger.seconds_left == 6.0
            assert limit.deadline == float("inf")
        clock.now += 5.0
        assert ledger.seconds_left == 1.0
        assert limit.deadline < float("inf")


async def test_a_question_to_the_host_is_not_cut_short_by_the_time_budget() -> None:
    left: list[float] = []

    def rule(question: HostQuestion) -> HostAnswer:
        left.append(anyio.current_effective_deadline() - anyio.current_time())
        return drafts()(question)

    judged: dict[str, Any] = {"policy": "judged", "max_iterations": 1}
    host = PresentHost(rule)
    result = await chain(host, budget=Budget(max_seconds=60), **judged).run(TASK, text=TEXT)
    assert result.status == "done"
    assert len(left) == len(host.asked)
    assert min(left) > 60


async def test_a_run_is_replayed_and_resumed_without_its_host() -> None:
    store = MemoryStorage()
    result = await chain(PresentHost(drafts()), store=store).run(TASK, text=TEXT)
    assert result.status == "done"
    alone = chain(None, store=store)
    assert (await alone.replay(result.run_id)).differences == ()
    assert (await alone.resume(result.run_id)).run == result.run
