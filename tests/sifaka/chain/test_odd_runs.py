"""Runs in which something unusual happens at an awkward moment."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessEventStream
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, Document, Thought
from sifaka.chain.version_comparison import Preference
from sifaka.errors import ModelProviderError, StorageError
from sifaka.models import Generation
from sifaka.record.entries import Called, Decided, Drafted, Entry
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.sifaka.chain.running import submit
from tests.stubs.stores import PassingStore
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

SHORT = [{"type": "length", "max_words": 2}]


class FailsAt(PassingStore):
    """Raises at the appends of a kind: a store's error, or what ends a process."""

    def __init__(self, kind: type[Entry], error: BaseException, *, times: int = 1) -> None:
        super().__init__(MemoryStorage())
        self._kind = kind
        self._error = error
        self.times = times

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        if self.times and expected_version and any(isinstance(e, self._kind) for e in entries):
            self.times -= 1
            raise self._error
        await super().append(run, entries, expected_version=expected_version, fence=fence)


async def test_an_agent_that_streams_is_metered_and_journaled_like_any_other() -> None:
    seen: list[object] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "one "
        yield "two"

    def whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart("one two")])

    async def listen(context: Any, events: Any) -> None:
        seen.extend([event async for event in events])

    model = FunctionModel(whole, stream_function=stream)
    agent = Agent(model, capabilities=[ProcessEventStream(listen)])
    result = await Chain(model=agent, validators=SHORT, critics=[], budget=Budget(max_calls=1)).run(
        text="one two three"
    )
    assert (result.text, result.usage.model_calls, len(result.run.calls)) == ("one two", 1, 1)
    assert seen


@pytest.mark.parametrize("critics", [[], ["self_refine"], [{"type": "self_consistency", "n": 3}]])
async def test_answers_on_record_need_no_room_in_the_budget(critics: list[Any]) -> None:
    calls = 1 + 2 * (3 if critics and isinstance(critics[0], dict) else len(critics))
    settings: dict[str, Any] = {
        "critics": critics,
        "validators": SHORT,
        "max_iterations": 1,
        "budget": Budget(max_calls=calls),
    }
    undisturbed = await Chain(model=Writer("a b").model, **settings).run(text="a b c")
    for kind in (Drafted, Decided):
        store = FailsAt(kind, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            await Chain(model=Writer("a b").model, store=store, **settings).run(text="a b c")
        (summary,) = (await store.recent(limit=1)).runs
        result = await Chain(model=Writer("a b").model, store=store, **settings).resume(
            summary.run_id
        )
        assert (result.text, result.stop_reason) == (undisturbed.text, undisturbed.stop_reason)
        assert result.usage.model_calls == undisturbed.usage.model_calls == calls


async def test_a_recovery_goes_on_with_what_the_store_has_not_taken_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_once(seconds: float) -> None:
        del seconds

    monkeypatch.setattr("sifaka.chain.chain.anyio.sleep", at_once)
    lines = ["a b c", ModelProviderError("down", error_code="server"), "a b"]
    store = FailsAt(Drafted, StorageError("the disk is full"), times=3)
    result = await Chain(
        model=ScriptedModel(lines=lines), validators=SHORT, critics=[], store=store
    ).run_with_recovery(text="a b c d")
    assert (result.text, result.status, result.warnings) == ("a b", "done", ())
    assert (await store.load(result.run_id)).version == result.run.version


async def test_half_a_surrogate_pair_from_a_model_is_a_malformed_answer() -> None:
    chain = Chain(model=Writer("a \ud800").model, validators=SHORT, critics=[])
    result = await chain.run(text="a b c")
    assert (result.status, result.run.error_code) == ("failed", "malformed")


class Weighs:
    """Two of these have one name; the first fails on later versions."""

    name = "prompt"

    def __init__(self, weight: Callable[[str], int], *, fails: bool) -> None:
        self._weight = weight
        self._fails = fails

    async def critique(self, thought: Thought) -> CriticFeedback:
        if self._fails and thought.iteration:
            raise ModelProviderError("down", error_code="server")
        issue = Issue.at(thought.text, 0, 1, "x", severity=self._weight(thought.text))
        return CriticFeedback(critic=self.name, verdict="revise", issues=(issue,))


async def test_critics_of_one_name_are_told_apart() -> None:
    heavy, light = Weighs(lambda _: 5, fails=True), Weighs(lambda t: len(t), fails=False)
    result = await Chain(
        model=ScriptedModel(lines=["abcd"]), critics=[heavy, light], max_iterations=1, protect=False
    ).run(text="a")
    assert result.text == "a", "only the second critic spoke about both, and it likes the first"
    assert [f.critic for f in result.run.thoughts[1].critic_feedback] == ["prompt", "prompt#2"]


async def test_the_editor_does_not_excuse_what_another_writer_has_lost() -> None:
    text = "Bob paid 300 euros in 2019 and nobody has recieved anything."
    lossy = "Somebody paid and nobody has recieved anything."
    chain = Chain(
        model="caller", critics=[ScriptedCritic(objects_to=lambda _: True)], max_iterations=4
    )
    result = await chain.run(text=text)
    result = await submit(chain, result, lossy)
    assert not result.accepted
    assert "300 euros" in {each.before for each in result.findings.open}
    assert "300" in result.text


@pytest.mark.parametrize("fails", [False, True])
async def test_a_run_cancelled_from_elsewhere_stops_after_its_call(fails: bool) -> None:
    class Cancels:
        name = "cancels"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            await chain.cancel(thought.run_id)
            if fails:
                raise ModelProviderError("down", error_code="server")
            return Generation(text="a b")

    chain = Chain(model=Cancels(), validators=SHORT, critics=[])
    result = await chain.run(text="a b c")
    assert (result.status, result.text) == ("cancelled", "a b c")
    assert (await chain.cancel(result.run_id)).status == "cancelled"


class Nothing:
    name = "nothing"

    async def critique(self, thought: Thought) -> Any:
        return None


class AwaitsTheCancelled:
    name = "awaits"

    async def critique(self, thought: Thought) -> Any:
        task = asyncio.ensure_future(anyio.sleep_forever())
        task.cancel()
        await task


@pytest.mark.parametrize("critic", [Nothing(), AwaitsTheCancelled()])
async def test_a_critic_with_a_bug_costs_its_vote_and_not_the_run(critic: Any) -> None:
    agrees = ScriptedCritic(objects_to=lambda _: False)
    result = await Chain(model=ScriptedModel(lines=[]), critics=[critic, agrees]).run(text="a")
    assert result.stop_reason == "passed"
    assert result.thought.critic_feedback[0].status == "abstained"
    alone = await Chain(model=ScriptedModel(lines=[]), critics=[critic]).run(text="a")
    assert (alone.status, alone.stop_reason) == ("failed", "error")


class Hanging:
    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        await anyio.sleep_forever()
        return ()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("given", [{"text": "a b c"}, {"prompt": "write"}])
async def test_a_retriever_that_hangs_does_not_outlive_the_time_budget(
    given: dict[str, Any],
) -> None:
    result = await Chain(
        model=ScriptedModel(lines=["a b"]),
        critics=[],
        validators=SHORT,
        retrievers=[Hanging()],
        budget=Budget(max_seconds=0.2),
    ).run(**given)
    assert (result.status, result.stop_reason) == ("done", "budget_seconds")


@pytest.mark.timeout(20)
async def test_a_judge_that_hangs_at_the_end_leaves_the_champion() -> None:
    class SlowAtTheEnd:
        asked = 0

        async def compare(self, first: Thought, second: Thought) -> Preference:
            self.asked += 1
            if self.asked > 2:
                await anyio.sleep_forever()
            return "first" if first.text == "b" else "second"

    result = await Chain(
        model=ScriptedModel(lines=["b"]),
        critics=[ScriptedCritic(objects_to=lambda _: True)],
        policy="judged",
        judge_model=SlowAtTheEnd(),
        max_iterations=1,
        budget=Budget(max_seconds=0.5),
    ).run(text="a")
    assert result.text == "b"
    assert result.run.ending is not None
    assert "budget of seconds" in result.run.ending.decision.reason


async def test_a_run_inside_an_agents_tool_has_a_journal_of_its_own() -> None:
    inner = Chain(model=Writer("x y").model, validators=SHORT, critics=[], store=MemoryStorage())
    runs: list[str] = []

    def outer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("shorten", {"text": "x y z"})])
        return ModelResponse([TextPart("one two")])

    agent = Agent(FunctionModel(outer))

    @agent.tool_plain
    async def shorten(text: str) -> str:  # pyright: ignore[reportUnusedFunction]
        result = await inner.run(text=text)
        runs.append(result.run_id)
        return result.text

    result = await Chain(model=agent, validators=SHORT, critics=[]).run(text="one two three")
    assert result.rules_met
    stored = await inner.store.load(runs[0])
    assert [call.key for call in stored.calls] == ["1/write#0"]
    assert isinstance(stored.calls[0], Called)
