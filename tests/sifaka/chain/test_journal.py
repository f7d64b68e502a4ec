"""Answers of models are durable before they are used, and never asked for twice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain, Thought
from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Called, Drafted, Entry
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio

TEXTS = ["first draft", "second draft", "third draft", "fourth draft"]


class Provider:
    """Writes the next text and asks for a revision; counts what it is asked."""

    def __init__(self, texts: Sequence[str] = TEXTS) -> None:
        self.asked: list[str] = []
        self._texts = list(texts)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, model_name="stub")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        question = str(messages[-1].parts[-1])
        self.asked.append(question)
        if info.output_tools:
            opinion = {"verdict": "revise", "suggestions": [f"point {len(self.asked)}"]}
            return ModelResponse([ToolCallPart(info.output_tools[0].name, opinion)])
        return ModelResponse([TextPart(self._texts.pop(0))])


class Dying(PassingStore):
    """A store that fails for good at an append of a certain kind, as a killed process would."""

    def __init__(self, store: ThoughtStore, *, at: type[Entry], number: int) -> None:
        super().__init__(store)
        self._at = at
        self._left = number
        self.dead = False

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self._left -= any(isinstance(entry, self._at) for entry in entries)
        if self._left <= 0:
            self.dead = True
            raise KeyboardInterrupt
        await super().append(run, entries, expected_version=expected_version, fence=fence)


def chain(provider: Provider, store: ThoughtStore, **settings: Any) -> Chain:
    defaults: dict[str, Any] = {
        "model": provider.model,
        "critics": ["self_refine"],
        "max_iterations": 2,
        "patience": None,
    }
    return Chain(**{**defaults, **settings}, store=store)


async def test_every_call_is_on_record_under_its_place(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    result = await chain(Provider(), store).run(text="input")
    run = await store.load(result.run_id)
    assert [call.key for call in run.calls] == [
        "0/critics[0].self_refine#0",
        "1/write#0",
        "1/critics[0].self_refine#0",
        "2/write#0",
        "2/critics[0].self_refine#0",
    ]
    assert {call.model for call in run.calls} == {"function:stub"}
    assert run.usage.model_calls == 5
    await store.aclose()


@pytest.mark.parametrize("number", range(1, 6))
async def test_a_resume_asks_nothing_that_is_on_record(number: int) -> None:
    """The process dies right after the n-th answer came, before it was stored."""
    provider, memory = Provider(), MemoryStorage()
    dying = Dying(memory, at=Called, number=number)
    with pytest.raises(KeyboardInterrupt):
        await chain(provider, dying).run(text="input")
    assert len(provider.asked) == number
    (summary,) = (await memory.recent(limit=1)).runs
    # The text that was lost with the process is written once more.
    rest = Provider(TEXTS[number // 2 - (number % 2 == 0) :] if number > 1 else TEXTS)
    result = await chain(rest, memory).resume(summary.run_id)
    undisturbed = await chain(Provider(), MemoryStorage()).run(text="input")
    assert [t.text for t in result.run.thoughts] == [t.text for t in undisturbed.run.thoughts]
    assert result.stop_reason == undisturbed.stop_reason
    assert len(rest.asked) == 5 - (number - 1)
    assert len(result.run.calls) == 5


async def test_an_answer_on_record_is_used_although_its_phase_was_not_finished() -> None:
    provider, memory = Provider(), MemoryStorage()
    dying = Dying(memory, at=Drafted, number=2)
    with pytest.raises(KeyboardInterrupt):
        await chain(provider, dying, max_iterations=1).run(text="input")
    (summary,) = (await memory.recent(limit=1)).runs
    rest = Provider([])
    result = await chain(rest, memory, max_iterations=1).resume(summary.run_id)
    assert result.run.thoughts[1].text == "first draft"
    assert result.run.usage.model_calls == 3
    assert len(rest.asked) == 1, "the last critique"


async def test_after_a_failure_the_question_is_asked_anew() -> None:
    answers = iter(["", "a text"])

    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart(next(answers))])

    one = Chain(
        model=FunctionModel(write), critics=[], validators=[{"type": "length", "max_words": 2}]
    )
    failed = await one.run(text="one two three")
    assert (failed.status, failed.run.error_code) == ("failed", "empty")
    result = await one.resume(failed.run_id)
    assert (result.status, result.text) == ("done", "a text")
    assert [call.key for call in result.run.calls] == ["1/write#0", "1~1/write#0"]


async def test_a_changed_question_is_never_answered_from_the_record() -> None:
    memory = MemoryStorage()
    with pytest.raises(KeyboardInterrupt):
        await chain(Provider(), Dying(memory, at=Drafted, number=2)).run(text="input")
    (summary,) = (await memory.recent(limit=1)).runs
    run = await memory.load(summary.run_id)
    # As if a later release asked in other words: the digest on record fits no question any more.
    write = run.calls[-1].model_copy(update={"request": "0" * 64})
    await memory.append(run.apply(write), [write], expected_version=run.version)
    provider = Provider(["asked again"])
    result = await chain(provider, memory, max_iterations=2).resume(summary.run_id)
    assert result.run.thoughts[1].text == "asked again"


async def test_an_agents_tool_loop_is_taken_from_the_record_as_well() -> None:
    asked: list[int] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(len(messages))
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("look_up", {"word": "refund"})])
        return ModelResponse([TextPart("one two")])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def look_up(word: str) -> str:  # pyright: ignore[reportUnusedFunction]
        return f"{word}: money back"

    memory = MemoryStorage()
    settings: dict[str, Any] = {
        "model": agent,
        "critics": [],
        "validators": [{"type": "length", "max_words": 2}],
    }
    with pytest.raises(KeyboardInterrupt):
        await Chain(**settings, store=Dying(memory, at=Drafted, number=2)).run(text="one two three")
    (summary,) = (await memory.recent(limit=1)).runs
    result = await Chain(**settings, store=memory).resume(summary.run_id)
    assert (result.text, result.status) == ("one two", "done")
    assert asked == [1, 3], "the calls of the first try, none of the second"
    assert result.thought.tool_calls[0].result == "refund: money back"


async def test_an_answer_that_cannot_be_stored_is_not_used() -> None:
    class Full(Dying):
        async def append(
            self,
            run: Run,
            entries: Sequence[Entry],
            *,
            expected_version: int,
            fence: int | None = None,
        ) -> None:
            if expected_version == 0:
                raise StorageError("the disk is full")

    provider = Provider()
    with pytest.raises(StorageError):
        await chain(provider, Full(MemoryStorage(), at=Called, number=9)).run(text="input")
    assert provider.asked == []


async def test_another_configuration_is_refused_or_begins_a_branch() -> None:
    memory = MemoryStorage()
    first = await chain(Provider(), memory).run(text="input")
    other = chain(Provider(["better"]), memory, max_iterations=1)
    with pytest.raises(ConfigurationError, match="another configuration"):
        await other.resume(first.run_id)
    branched = await other.branch(first.run_id)
    assert branched.run.branch_of == first.run_id
    assert branched.run_id != first.run_id
    assert branched.run.thoughts[0].text == first.text
    assert (await memory.load(first.run_id)).version == first.run.version


async def test_calls_of_models_that_are_not_metered_are_charged_as_they_say() -> None:
    result = await Chain(
        model=ScriptedModel(lines=["a b"]),
        critics=[],
        validators=[{"type": "length", "max_words": 2}],
    ).run(text="a b c")
    assert result.usage.model_calls == 1
    assert result.run.calls == ()
    thought: Thought = result.thought
    assert thought.usage.model_calls == 1
