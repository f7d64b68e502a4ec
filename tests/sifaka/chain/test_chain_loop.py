from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from sifaka import Budget, Chain, ChainEvent, Document, Thought
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.models import Generation
from sifaka.record.entries import Critiqued, Decided, Drafted, Stopped, Validated
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.usage import Usage
from sifaka.retrievers.in_memory import MockRetriever
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedModel

pytestmark = pytest.mark.anyio

AT_MOST_THREE: Mapping[str, object] = {"type": "length", "max_words": 3}


def chain(*lines: str | Exception | Generation, **settings: Any) -> Chain:
    model = ScriptedModel(lines=lines)
    defaults: dict[str, Any] = {"model": model, "critics": [], "validators": [AT_MOST_THREE]}
    return Chain(**{**defaults, **settings})


async def test_a_text_that_needs_nothing_is_done_without_a_model_call() -> None:
    model = ScriptedModel(lines=[])
    result = await Chain(model=model, critics=[], validators=[AT_MOST_THREE]).run(text="a b c")
    assert (result.status, result.stop_reason) == ("done", "rules_met")
    assert not result.changed
    assert model.seen == []


async def test_a_failing_text_is_improved_until_it_passes() -> None:
    result = await chain("still four words here", "three words now").run(text="one two three four")
    assert result.text == "three words now"
    assert result.rules_met
    assert result.run.iterations == 2


async def test_a_worse_version_never_replaces_the_input() -> None:
    result = await chain("a b c d e f g", "a b c d e f", max_iterations=2).run(text="a b c d")
    assert result.text == "a b c d"
    assert result.stop_reason == "max_iterations"
    turned_down = [result.run.decisions[t.id] for t in result.run.thoughts[1:]]
    assert [d.accepted for d in turned_down] == [False, False]
    assert all("distance from passing" in d.reason for d in turned_down)


async def test_each_version_is_written_from_the_champion() -> None:
    model = ScriptedModel(lines=["a b c d e f g", "x y z"])
    await Chain(model=model, critics=[], validators=[AT_MOST_THREE]).run(text="a b c d")
    assert [t.text for t in model.seen] == ["a b c d", "a b c d"]


async def test_every_version_is_validated_and_the_verdict_is_for_exactly_that_text() -> None:
    result = await chain("one two three four five", "ok").run(text="a b c d")
    assert [len(t.validation_results) for t in result.run.thoughts] == [1, 1, 1]
    assert result.validation_results[0].passed


async def test_the_same_text_twice_is_a_stall() -> None:
    result = await chain("a b c d").run(text="a b c d")
    assert result.stop_reason == "stalled"
    assert result.run.decisions[result.run.thoughts[1].id].reason == "the same text as version 0"


async def test_the_number_of_versions_is_bounded() -> None:
    lines = ["a b c d e f", "a b c d e", "a b c d f", "unused"]
    result = await chain(*lines, max_iterations=3).run(text="a b c d e f g")
    assert result.stop_reason == "max_iterations"
    assert result.run.iterations == 3
    assert result.text == "a b c d e"


async def test_a_prompt_alone_is_written_first() -> None:
    result = await chain("three words now").run("write something")
    assert result.text == "three words now"
    assert result.run.iterations == 0
    assert result.run.thoughts[0].model_prompt == "write something"


async def test_critics_are_asked_before_versions_are_compared() -> None:
    wants_b = ScriptedCritic(objects_to=lambda text: "b" not in text)
    result = await chain("a b", critics=[wants_b]).run(text="a")
    assert (result.text, result.stop_reason) == ("a b", "passed")
    events = [event async for event in chain("a b", critics=[wants_b]).stream(text="a")]
    stored = [type(event.entry) for event in events if event.entry is not None]
    # The input was stored before the first event.
    assert stored == [
        Validated,
        Critiqued,
        Decided,
        Drafted,
        Validated,
        Critiqued,
        Decided,
        Stopped,
    ]


async def test_a_revision_takes_a_strict_majority() -> None:
    objects = ScriptedCritic(objects_to=lambda _: True, name="no")
    agrees = ScriptedCritic(objects_to=lambda _: False, name="yes")
    result = await chain(critics=[objects, agrees]).run(text="a")
    assert result.stop_reason == "passed"
    result = await chain("b", "c", critics=[objects, objects, agrees]).run(text="a")
    assert result.stop_reason == "stalled"


class BrokenCritic:
    name = "broken"

    async def critique(self, thought: Thought) -> CriticFeedback:
        raise ZeroDivisionError("secret detail")


async def test_a_critic_that_fails_abstains_and_its_error_reaches_neither_vote_nor_writer() -> None:
    wants_b = ScriptedCritic(objects_to=lambda text: "b" not in text)
    model = ScriptedModel(lines=["a b"])
    result = await Chain(model=model, critics=[BrokenCritic(), wants_b]).run(text="a")
    assert result.text == "a b"
    assert result.degraded == ("critic broken abstained: it crashed with ZeroDivisionError",)
    assert "secret" not in result.run.model_dump_json()


async def test_when_every_critic_fails_the_run_says_so_and_keeps_the_text() -> None:
    result = await chain(critics=[BrokenCritic()]).run(text="a b c")
    assert (result.status, result.stop_reason, result.text) == ("failed", "error", "a b c")
    assert result.error is not None
    assert "every critic abstained" in result.error


class BrokenValidator:
    name = "broken"
    required = True

    def validate(self, thought: Thought) -> ValidationResult:
        raise ZeroDivisionError


async def test_a_validator_that_crashes_has_failed() -> None:
    result = await chain("x", "y", validators=[BrokenValidator()]).run(text="a b c")
    assert not result.passed
    assert "ZeroDivisionError" in result.validation_results[0].message


async def test_the_call_budget_is_checked_before_each_call() -> None:
    result = await chain(
        "a b c d e f", "a b c d e", budget=Budget(max_calls=1), max_iterations=9
    ).run(text="a b c d e f g")
    assert result.stop_reason == "budget_calls"
    assert result.usage.model_calls == 1
    assert result.text == "a b c d e f"


async def test_the_token_budget_stops_the_run_with_the_best_so_far() -> None:
    spent = Usage(model_calls=1, input_tokens=60, output_tokens=50)
    line = Generation(text="a b c d e f", usage=spent)
    result = await chain(line, budget=Budget(max_tokens=100)).run(text="a b c d e f g")
    assert (result.stop_reason, result.text) == ("budget_tokens", "a b c d e f")


class SlowModel:
    name = "slow"

    async def generate_with_thought(self, thought: Thought) -> Generation:
        await anyio.sleep_forever()
        raise AssertionError


async def test_the_time_budget_ends_a_call_that_takes_too_long() -> None:
    result = await chain(model=SlowModel(), budget=Budget(max_seconds=0.05)).run(text="a b c d")
    assert (result.status, result.stop_reason) == ("done", "budget_seconds")
    assert result.text == "a b c d"


async def test_a_provider_error_is_a_failed_run_with_the_best_text_so_far() -> None:
    error = ModelProviderError("the provider refused", "check the key", code="authentication")
    result = await chain("a b c d", error).run(text="a b c d e")
    assert (result.status, result.stop_reason, result.text) == ("failed", "error", "a b c d")
    assert result.error == "the provider refused — check the key"


async def test_a_cancelled_run_keeps_its_best_and_says_that_it_was_cancelled() -> None:
    store = MemoryStorage()
    reached = anyio.Event()

    async def listen(event: ChainEvent) -> None:
        if event.phase == "generate":
            reached.set()

    slow = Chain(model=SlowModel(), critics=[], validators=[AT_MOST_THREE], store=store)
    async with anyio.create_task_group() as group:

        async def work() -> None:
            await slow.run(text="a b c d", listen=listen)

        group.start_soon(work)
        with anyio.fail_after(60):
            await reached.wait()
        group.cancel_scope.cancel()
    (summary,) = (await store.recent(limit=5)).runs
    run = await store.load(summary.run_id)
    assert (run.status, run.stop_reason) == ("cancelled", "cancelled")
    assert run.champion is not None
    assert run.champion.text == "a b c d"


async def test_a_run_cancelled_from_elsewhere_stops_at_its_next_phase() -> None:
    store = MemoryStorage()
    elsewhere = chain(store=store)

    class Cancelling:
        name = "cancelling"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            await elsewhere.cancel(thought.run_id)
            return Generation(text="a b c d e")

    result = await chain(model=Cancelling(), store=store).run(text="a b c d")
    assert (result.status, result.text) == ("cancelled", "a b c d")
    assert (await elsewhere.cancel(result.run_id)).status == "cancelled"


async def test_documents_reach_the_writer_and_the_critics() -> None:
    retriever = MockRetriever(documents=(Document(text="a fact"),))
    model = ScriptedModel(lines=["a b"])
    wants_b = ScriptedCritic(objects_to=lambda text: "b" not in text)
    result = await Chain(model=model, critics=[wants_b], retrievers=[retriever]).run(text="a")
    assert model.seen[0].pre_generation_context[0].text == "a fact"
    assert all(t.post_generation_context[0].text == "a fact" for t in result.run.thoughts)


async def test_events_tell_what_begins_and_what_was_stored() -> None:
    events = [event async for event in chain("x").stream(text="a b c d")]
    assert [e.phase for e in events if e.entry is None] == ["validate", "generate", "validate"]
    assert events[-1].run is not None
    assert events[-1].run.status == "done"


async def test_the_policy_last_takes_the_last_version() -> None:
    result = await chain("a b c d e f", "a b c d e f g", max_iterations=2, policy="last").run(
        text="a b c d"
    )
    assert result.text == "a b c d e f g"


async def test_run_sync_works_from_inside_a_running_event_loop() -> None:
    assert chain("x").run_sync(text="a b c d").text == "x"


def test_run_sync_works_from_plain_code() -> None:
    assert chain("x").run_sync(text="a b c d").text == "x"


async def test_the_fluent_way_is_the_same_engine_and_changes_no_chain() -> None:
    plain = Chain()
    fluent = (
        plain.with_model(ScriptedModel(lines=["x"]))
        .with_prompt("say it briefly")
        .with_retriever(MockRetriever(documents=()))
        .validate_with(AT_MOST_THREE)
        .improve_with(ScriptedCritic(objects_to=lambda _: False))
    )
    result = await fluent.run(text="a b c d")
    assert result.text == "x"
    assert result.run.prompt == "say it briefly"
    assert plain.resources.validators == ()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"validators": [{"type": "colour"}]}, "validators[0]"),
        ({"critics": ["nobody"]}, "unknown critic 'nobody'"),
        ({"model": "gpt-5"}, "unknown model 'gpt-5'"),
        ({"max_iterations": -1}, "max_iterations: should be at least 0, not -1"),
        ({"effort": "heroic"}, "unknown effort 'heroic'"),
    ],
)
async def test_a_wrong_setting_is_one_clear_line_and_stores_nothing(
    settings: dict[str, Any], said: str
) -> None:
    store = MemoryStorage()
    with pytest.raises(ConfigurationError) as error:
        await chain(**{"store": store, **settings}).run(text="a")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert (await store.recent(limit=1)).runs == ()


@pytest.mark.parametrize("text", ["", "  \n ", "a\0b", "a\ud800b", "x" * 1_000_001])
async def test_a_text_that_cannot_be_worked_on_is_refused(text: str) -> None:
    store = MemoryStorage()
    with pytest.raises(ConfigurationError):
        await chain(store=store).run(text=text)
    assert (await store.recent(limit=1)).runs == ()


async def test_the_editor_cannot_write_from_nothing() -> None:
    with pytest.raises(ConfigurationError, match="cannot write a text from a prompt"):
        await Chain(model="editor").run("write something")


async def test_a_version_is_not_paid_for_when_nobody_could_judge_it_any_more() -> None:
    judge = FunctionModel(lambda messages, info: opinion("revise"))
    writer = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("x")]))
    result = await Chain(
        model=writer, critics=["self_refine"], judge_model=judge, budget=Budget(max_calls=2)
    ).run(text="A good and complete text.")
    assert (result.stop_reason, result.text) == ("budget_calls", "A good and complete text.")
    assert result.usage.model_calls == 1


async def test_a_task_in_words_is_not_done_by_an_editor_that_cannot_read_it() -> None:
    result = await Chain().run("Translate it into German.", text="The cat sat on the mat.")
    assert result.status == "needs_revision"


async def test_a_bug_in_a_writer_ends_in_the_best_text_so_far() -> None:

    class Buggy:
        name = "buggy"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            raise ZeroDivisionError("secret detail")

    result = await chain(model=Buggy()).run(text="a b c d")
    assert (result.status, result.stop_reason, result.text) == ("failed", "error", "a b c d")
    assert result.error == "buggy: broke off with ZeroDivisionError — see the log for its traceback"
    assert not result.passed


async def test_a_bug_in_a_tool_of_an_agent_ends_in_the_best_text_so_far(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Agent(TestModel())

    @agent.tool_plain
    def look_up(word: str) -> str:  # pyright: ignore[reportUnusedFunction]
        raise ZeroDivisionError("secret detail")

    result = await chain(model=agent).run(text="a b c d")
    assert (result.status, result.stop_reason, result.text) == ("failed", "error", "a b c d")
    assert "ZeroDivisionError" in (result.error or "")
    assert "secret" not in (result.error or "")
    stack: list[str] = vars(caplog.records[0])["sifaka_stack"]
    assert any("look_up" in line for line in stack)


async def test_a_bug_in_the_engine_is_raised_and_its_run_does_not_look_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStorage()

    def buggy(run: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("sifaka.chain.phases.generation.finished", buggy)
    with pytest.raises(ZeroDivisionError):
        await chain("x", store=store).run(text="a b c d")
    (summary,) = (await store.recent(limit=1)).runs
    run = await store.load(summary.run_id)
    assert (run.status, run.stop_reason) == ("failed", "error")
    assert run.error == "the run broke off with ZeroDivisionError"


@pytest.mark.parametrize("broken", ["a\0b", "a\ud800b", "x" * 1_000_001])
async def test_an_answer_that_cannot_be_stored_is_a_malformed_answer(broken: str) -> None:
    result = await chain(broken).run(text="a b c d")
    assert (result.status, result.text) == ("failed", "a b c d")


async def test_an_answer_that_was_cut_off_is_no_version() -> None:
    cut_off = ModelResponse(parts=[TextPart("a b")], finish_reason="length")
    result = await chain(model=FunctionModel(lambda messages, info: cut_off)).run(text="a b c d")
    assert (result.status, result.text) == ("failed", "a b c d")
    assert "cut off" in (result.error or "")


async def test_a_run_with_retrievers_is_not_resumed_without_them() -> None:
    retriever = MockRetriever(documents=(Document(text="a fact"),))
    run = (await chain(model="editor", retrievers=[retriever]).start(text="a b c d")).run
    with pytest.raises(ConfigurationError, match="not plain data"):
        Chain.of_config(run.config, store=MemoryStorage())


async def test_a_price_that_is_not_known_may_have_used_up_the_cost_budget() -> None:
    priceless = Usage(model_calls=1, cost_usd=None)
    lines = [Generation(text=text, usage=priceless) for text in ("a b c d e f", "a b c d e")]
    result = await chain(*lines, budget=Budget(max_cost_usd=5)).run(text="a b c d e f g")
    assert (result.stop_reason, result.usage.model_calls) == ("budget_cost", 1)


def opinion(verdict: str) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("answer", {"verdict": verdict})])


async def test_critics_without_room_for_their_calls_end_the_run_by_its_budget() -> None:
    judge = FunctionModel(lambda messages, info: opinion("revise"))
    critic = {"type": "self_consistency", "n": 3}
    result = await Chain(
        model=ScriptedModel(lines=[]),
        critics=[critic],
        judge_model=judge,
        budget=Budget(max_calls=2),
    ).run(text="a text")
    assert (result.status, result.stop_reason, result.text) == ("done", "budget_calls", "a text")
    assert result.usage.model_calls == 0
