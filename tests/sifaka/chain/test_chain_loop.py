"""The loop of a chain: write, check, compare, stop; and what its result shows."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from sifaka import (
    Budget,
    Chain,
    Issue,
    LengthValidator,
    Thought,
    ValidationResult,
    improve,
)
from sifaka.errors import ConfigurationError
from sifaka.models import Generation
from sifaka.record.entries import Critiqued, Decided, Drafted, Stopped, Validated
from sifaka.record.results import CriticFeedback
from sifaka.record.usage import Usage
from sifaka.retrievers.mock import MockRetriever
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

AT_MOST_THREE: Mapping[str, object] = {"type": "length", "max_words": 3}


def chain(*lines: str | Exception | Generation, **settings: Any) -> Chain:
    model = ScriptedModel(lines=lines)
    defaults: dict[str, Any] = {"model": model, "critics": [], "validators": [AT_MOST_THREE]}
    return Chain(**{**defaults, **settings})


async def test_a_text_is_improved_until_it_passes_and_one_that_needs_nothing_is_done() -> None:
    model = ScriptedModel(lines=[])
    result = await Chain(model=model, critics=[], validators=[AT_MOST_THREE]).run(text="a b c")
    assert (result.status, result.stop_reason) == ("done", "rules_met")
    assert not result.changed
    assert model.seen == []
    result = await chain("still four words here", "three words now").run(text="one two three four")
    assert result.text == "three words now"
    assert result.rules_met
    assert result.run.iterations == 2


async def test_a_worse_version_never_replaces_the_input_which_others_are_written_from() -> None:
    result = await chain("a b c d e f g", "a b c d e f", max_iterations=2).run(text="a b c d")
    assert result.text == "a b c d"
    assert result.stop_reason == "max_iterations"
    turned_down = [result.run.decisions[t.id] for t in result.run.thoughts[1:]]
    assert [d.accepted for d in turned_down] == [False, False]
    assert all("distance from passing" in d.reason for d in turned_down)

    model = ScriptedModel(lines=["a b c d e f g", "x y z"])
    await Chain(model=model, critics=[], validators=[AT_MOST_THREE]).run(text="a b c d")
    assert [t.text for t in model.seen] == ["a b c d", "a b c d"]


async def test_versions_are_bounded_and_the_same_text_twice_is_a_stall() -> None:
    result = await chain("a b c d").run(text="a b c d")
    assert result.stop_reason == "stalled"
    assert result.run.decisions[result.run.thoughts[1].id].reason == "the same text as version 0"
    lines = ["a b c d e f", "a b c d e", "a b c d f", "unused"]
    result = await chain(*lines, max_iterations=3).run(text="a b c d e f g")
    assert result.stop_reason == "max_iterations"
    assert result.run.iterations == 3
    assert result.text == "a b c d e"


async def test_a_text_is_written_first_from_a_prompt_alone_but_not_by_the_editor() -> None:
    result = await chain("three words now").run("write something")
    assert result.text == "three words now"
    assert result.run.iterations == 0
    assert result.run.thoughts[0].model_prompt == "write something"
    with pytest.raises(ConfigurationError, match="cannot write a text from a prompt"):
        await Chain(model="editor").run("write something")


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


async def test_critics_that_fail_abstain_and_when_all_do_the_run_says_so() -> None:
    wants_b = ScriptedCritic(objects_to=lambda text: "b" not in text)
    model = ScriptedModel(lines=["a b"])
    result = await Chain(model=model, critics=[BrokenCritic(), wants_b]).run(text="a")
    assert result.text == "a b"
    assert result.degraded == ("critic broken abstained: it crashed with ZeroDivisionError",)
    assert "secret" not in result.run.model_dump_json()

    result = await chain(critics=[BrokenCritic()]).run(text="a b c")
    assert (result.status, result.stop_reason, result.text) == ("failed", "error", "a b c")
    assert result.error is not None
    assert "every critic abstained" in result.error


async def test_each_budget_stops_the_run_with_the_best_so_far() -> None:
    result = await chain(
        "a b c d e f", "a b c d e", budget=Budget(max_calls=1), max_iterations=9
    ).run(text="a b c d e f g")
    assert result.stop_reason == "budget_calls"
    assert result.usage.model_calls == 1
    assert result.text == "a b c d e f"

    spent = Usage(model_calls=1, input_tokens=60, output_tokens=50)
    line = Generation(text="a b c d e f", usage=spent)
    result = await chain(line, budget=Budget(max_tokens=100)).run(text="a b c d e f g")
    assert (result.stop_reason, result.text) == ("budget_tokens", "a b c d e f")
    priceless = Usage(model_calls=1, cost_usd=None)
    lines = [Generation(text=text, usage=priceless) for text in ("a b c d e f", "a b c d e")]
    result = await chain(*lines, budget=Budget(max_cost_usd=5)).run(text="a b c d e f g")
    assert (result.stop_reason, result.usage.model_calls) == ("budget_cost", 1)


class SlowModel:
    name = "slow"

    async def generate_with_thought(self, thought: Thought) -> Generation:
        await anyio.sleep_forever()
        raise AssertionError


async def test_the_time_budget_ends_a_call_that_takes_too_long() -> None:
    result = await chain(model=SlowModel(), budget=Budget(max_seconds=0.05)).run(text="a b c d")
    assert (result.status, result.stop_reason) == ("done", "budget_seconds")
    assert result.text == "a b c d"


async def test_run_sync_works_from_inside_a_running_event_loop() -> None:
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


async def test_a_version_is_not_paid_for_when_nobody_could_judge_it_any_more() -> None:
    budget = Budget(max_calls=2)
    chain = Chain(model=Writer("x").model, critics=["self_refine"], budget=budget)
    result = await chain.run(text="A good and complete text.")
    assert (result.stop_reason, result.text) == ("budget_calls", "A good and complete text.")
    assert result.usage.model_calls == 1


async def test_a_bug_in_a_tool_of_an_agent_ends_in_the_best_text_so_far(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Agent(TestModel())

    @agent.tool_plain
    def look_up(word: str) -> str:  # pyright: ignore[reportUnusedFunction]
        raise ZeroDivisionError("none left")

    result = await chain(model=agent).run(text="a b c d")
    assert (result.status, result.stop_reason, result.text) == ("failed", "error", "a b c d")
    assert "the tool look_up failed with ZeroDivisionError: none left" in str(result.error)
    stack: list[str] = vars(caplog.records[0])["sifaka_stack"]
    assert any("look_up" in line for line in stack)


async def test_a_bug_in_the_engine_is_raised_and_its_run_does_not_look_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStorage()

    def buggy(run: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("sifaka.chain.phases.generation.find_stop_reason", buggy)
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


async def test_critics_without_room_for_their_calls_end_the_run_by_its_budget() -> None:
    critic = {"type": "self_consistency", "n": 3}
    result = await Chain(
        model=ScriptedModel(lines=[]),
        critics=[critic],
        judge_model=Writer().model,
        budget=Budget(max_calls=2),
    ).run(text="a text")
    assert (result.status, result.stop_reason, result.text) == ("done", "budget_calls", "a text")
    assert result.usage.model_calls == 0


TEXT = "Our tool is the the best. " * 8


class NoPlace:
    """A validator that fails and points at no place."""

    name = "tone"
    required = True

    def validate(self, thought: Thought) -> ValidationResult:
        return ValidationResult(passed=False, message="too loud")


async def test_changes_are_the_hunks_that_change_something_with_their_reasons() -> None:
    result = await improve("This is is it.", critics=["lint"])
    assert [(hunk.op, hunk.before, hunk.reason) for hunk in result.changes] == [
        ("delete", " is", '"is" is repeated')
    ]
    assert [hunk for hunk in result.diff if hunk.op != "equal"] == list(result.changes)


async def test_what_is_left_are_the_issues_of_failed_validators_and_of_critics_once() -> None:
    objects = ScriptedCritic(objects_to=lambda _: True, name="no")
    too_long = LengthValidator(max_words=5)
    result = await Chain(validators=[too_long, NoPlace()], critics=[objects, objects]).run(
        text=TEXT
    )
    left = {issue.message: (issue.support, issue.severity) for issue in result.left}
    length = result.validation_results[0].issues[0].message
    assert left == {length: (1, 3), "tone: too loud": (1, 5), "not what was wanted": (2, 3)}

    result = await improve("This is it.", validators=[LengthValidator(max_words=5)])
    assert (result.rules_met, result.left) == (True, ())


async def test_a_repr_is_one_short_line_without_what_is_empty_or_the_default() -> None:
    rule = {"type": "content", "required": ["30 days"]}
    result = await Chain(validators=[rule]).run(text=TEXT)
    told = repr(result)
    assert told.startswith(f"RunResult(run_id='{result.run_id}', status='needs_revision'")
    assert "text='Our tool is the best. Our tool is the..." in told
    assert f"{result}" == told
    parts = (told, repr(result.run), repr(result.thought), repr(result.validation_results[0]))
    for each in parts:
        assert "\n" not in each
        assert len(each) < 500

    assert repr(Issue(message="odd", severity=3)) == "Issue(message='odd')"
    long = ValidationResult(passed=False, message="x" * 90, suggestions=("a", "b"))
    told = f"ValidationResult(passed=False, message='{'x' * 37}...', score=0.0, suggestions=<2>)"
    assert repr(long) == told
